// The main loop of an executor.
#pragma once

namespace podere::executor {

/// Where what processes of this machine share lies in memory: each executor has a TemporaryFolder there.
inline constexpr const char* kSharedMemory = "/dev/shm";

/// Does the jobs that come as JSON lines on standard input of rank 0, together with the other ranks, until
/// {"end":true}; answers on standard output. `n_threads` is of each executor. Collective over all processes of the
/// group; to be called from main, once. Returns the exit code.
///
/// A job that fails on all ranks alike leaves the group as it was. One that fails on some ranks while the others wait
/// in a collective ends the group after two seconds, with the failing rank's message as its last word.
///
/// Where `heartbeat_seconds` is above 0, every rank says so often on standard error that it is alive (kAlive), whatever
/// else it is doing.
///
/// The environment variable PODERE_FAULT makes one rank fail, for tests: "read:rank=1" when it starts to load a table,
/// "train:rank=1:tree=3" after the third round, "answer:rank=0" when the job is done and its result is due.
/// PODERE_POWERCAP is a folder to look for energy counters in, instead of /sys/class/powercap.
int run_executor(int n_threads, double heartbeat_seconds);

}  // namespace podere::executor
