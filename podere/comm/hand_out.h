// Tasks for whichever executor has time: for work that takes longer here than there, and whose results do not depend on
// who did it.
#pragma once

#include <cstddef>
#include <functional>

#include "podere/comm/communicator.h"

namespace podere::comm {

/// What to do, and how to follow it. Both must be given on every rank.
struct HandedOut {
  /// Called once for each task, on one thread of one rank, in no order. `thread` is in [0, n_threads) of that rank.
  std::function<void(std::size_t task, int thread)> work;
  /// Called on rank 0 some times a second with the number of tasks that are done; if it returns false, no more tasks
  /// are handed out. Collectives are not allowed in it.
  std::function<bool(std::size_t n_done)> watch;
};

/// Does the tasks [0, n_tasks) on `n_threads` threads of each rank, which may differ from rank to rank, and returns how
/// many are done, on all ranks. Rank 0 hands out runs of tasks, which become shorter towards the end, while its own
/// threads work too. Several messages a second for each rank. Collective, from one thread.
/// If `work` throws on any rank, no more tasks are handed out and all ranks throw, as Communicator::agree.
std::size_t hand_out(const Communicator& comm, std::size_t n_tasks, int n_threads, const HandedOut& tasks);

}  // namespace podere::comm
