// Starting executors on this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/subprocess.h"
#include "podere/launch/launcher.h"

namespace podere::launch {

/// The command that runs `program` (a path and its arguments) as a group of `n_executors` processes on this machine,
/// without mpirun if it is one: MPI makes that a group of one. MPI keeps its session files in `folder`, which should be
/// the group's own: where two groups share one, the first to end may take it from the other.
/// Pure. Throws InputError for fewer than 1.
CommandLine local(int n_executors, const std::vector<std::string>& program, const std::filesystem::path& folder);

/// The path of mpirun. Throws InputError that says how to get it.
std::string find_mpirun();

/// Checks that MPI can keep the session files of `n_executors` in `folder`, which is temporary_folder(). Without room
/// for them several executors die while their mpirun hangs. Throws InputError that says what is wrong.
void check_session_folder(const std::filesystem::path& folder, int n_executors);

/// Checks that this process, and those that it starts, may open the files that MPI needs for `n_executors` here, each
/// of which is a pipe or a socket of mpirun; with fewer it hangs. Raises the limit where that is allowed. Throws
/// InputError that names it, and the command that raises it.
void check_open_files(int n_executors);

/// On this machine. Throws InputError for more executors than its cores bear, and as the checks above.
std::unique_ptr<Launcher> local_launcher(const Place& place);

/// TMPDIR, TEMP, TMP or /tmp, as Open MPI looks for it.
std::filesystem::path temporary_folder();

}  // namespace podere::launch
