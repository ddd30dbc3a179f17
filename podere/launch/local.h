// Starting executors on this machine.
#pragma once

#include <string>
#include <vector>

#include "podere/base/subprocess.h"

namespace podere::launch {

/// The command that runs `program` (a path and its arguments) as a group of `n_executors` processes on this machine,
/// without mpirun if it is one: MPI makes that a group of one.
/// Pure. Throws InputError for fewer than 1.
CommandLine local(int n_executors, const std::vector<std::string>& program);

/// The path of mpirun. Throws InputError that says how to get it.
std::string find_mpirun();

}  // namespace podere::launch
