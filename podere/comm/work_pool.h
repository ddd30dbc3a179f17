// Tasks that come of the results of others, for whichever thread of whichever executor has time.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "podere/comm/communicator.h"

namespace podere::comm {

/// Tasks and results are texts of any bytes. All must be given on every rank.
struct PooledWork {
  /// On rank 0: the next task; nullopt: there is none before another result is taken. If none is at work either, it is
  /// the end.
  std::function<std::optional<std::string>()> next;
  /// On a thread of any rank, once for each task: its result. It may end early, with a result that says so, once
  /// `is_stopping`.
  std::function<std::string(const std::string& task, const std::atomic<bool>& is_stopping)> work;
  /// On rank 0: a result, in the order in which they come.
  std::function<void(std::string result)> take;
  /// On rank 0, some times a second: if it returns false, no more tasks are handed out and `is_stopping` is set on all
  /// ranks.
  std::function<bool()> watch;
};

/// Does tasks until there are no more, on `n_threads` threads of each rank, which may differ from rank to rank. All
/// but `work` is called from the calling thread, outside of collectives. Rank 0 hands out one task a thread, so each
/// costs a message there and one back, which take some milliseconds on other ranks; for many small tasks that are known
/// before, see hand_out. Collective, from one thread, which needs a fraction of a processor itself. If `work` throws on
/// any rank, no more tasks are handed out and all ranks throw, as Communicator::agree.
void work_pool(const Communicator& comm, int n_threads, const PooledWork& work);

}  // namespace podere::comm
