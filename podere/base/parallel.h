// The one way Podere runs loops on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "podere/base/thread_team.h"

namespace podere {

/// Keeps the exception of the lowest task, so that which error is told does not depend on timing alone.
class FirstException {
 public:
  void keep(std::size_t task, std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (task < task_) {
      task_ = task;
      exception_ = std::move(exception);
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::size_t task_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr exception_;
};

/// Calls `body(task, thread)` for every task in [0, n_tasks), on up to `n_threads` threads; tasks are handed out
/// in order as threads become free. `thread` is in [0, n_threads). The exception of the lowest task that threw is
/// thrown here; tasks above it may or may not have run. A loop within a task runs on the task's thread alone
/// (as thread 0). No collectives inside.
template <typename Body>
void parallel_for(int n_threads, std::size_t n_tasks, Body&& body) {
  const int team = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(n_threads, 1)), n_tasks));
  if (team <= 1 || ThreadTeam::is_inside()) {
    for (std::size_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  FirstException first;
  std::atomic<std::size_t> next = 0;
  const auto take_tasks = [&](int thread) {
    for (std::size_t task = next++; task < n_tasks; task = next++) {
      try {
        body(task, thread);
      } catch (...) {
        first.keep(task, std::current_exception());
      }
    }
  };
  ThreadTeam::instance().run(team, take_tasks);
  first.rethrow();
}

/// A piece [begin, end) of a range of items.
struct Slice {
  std::size_t begin;
  std::size_t end;
};

/// Piece `i` of `n` nearly equal pieces of [0, n_items).
inline Slice slice_of(std::size_t n_items, std::size_t i, std::size_t n) {
  return {n_items / n * i + std::min(i, n_items % n), n_items / n * (i + 1) + std::min(i + 1, n_items % n)};
}

/// Calls `body(begin, end, thread)` on pieces of [0, n_items) of at most `grain` items.
template <typename Body>
void parallel_for_slices(int n_threads, std::size_t n_items, std::size_t grain, Body&& body) {
  parallel_for(n_threads, (n_items + grain - 1) / grain, [&](std::size_t task, int thread) {
    body(task * grain, std::min(n_items, (task + 1) * grain), thread);
  });
}

}  // namespace podere
