// Starting executors on this machine.
#pragma once

#include <string>
#include <vector>

#include "podere/base/subprocess.h"

namespace podere::launch {

/// The command that runs `program` (a path and its arguments) as a group of `n_executors` processes on this machine,
/// each with `cores` threads. A single executor is started as it is, without mpirun: MPI makes it a group of one.
/// Pure. Throws InputError for counts below 1.
CommandLine local(int n_executors, int cores, const std::vector<std::string>& program);

/// The path of mpirun. Throws InputError that says how to get it.
std::string find_mpirun();

}  // namespace podere::launch
