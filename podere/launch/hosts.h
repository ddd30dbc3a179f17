// Starting executors on hosts that a user has named, over ssh.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/subprocess.h"
#include "podere/launch/host_file.h"
#include "podere/launch/launcher.h"

namespace podere::launch {

/// The command that runs `program` as a group of `n_executors` processes on `hosts`, in turn, no more on each than it
/// has slots: one mpirun here, which reaches the hosts by `ssh`, a command with options. That never asks for anything.
/// mpirun keeps its own session files in `folder`, on the hosts they lie in their temporary folders.
/// Pure. Throws InputError for fewer than 1 and for more than there are slots, naming `host_file`.
CommandLine on_hosts(int n_executors, const std::vector<std::string>& program, const std::vector<Host>& hosts,
                     const std::string& ssh, const std::filesystem::path& folder, const std::string& host_file);

/// Those of `hosts` on which ssh can run a program now; this machine is always one. Asks them side by side.
/// Within some seconds.
std::vector<Host> answering(const std::vector<Host>& hosts, const std::string& ssh);

/// Throws InputError if there is no such program as `ssh` begins with.
void check_ssh(const std::string& ssh);

/// On the hosts of a file, those that still answer. Throws InputError as read_hosts, and for more executors than slots.
std::unique_ptr<Launcher> hosts_launcher(const Place& place);

}  // namespace podere::launch
