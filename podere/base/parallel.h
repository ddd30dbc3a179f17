// The one way Podere runs loops on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "podere/base/thread_team.h"

namespace podere {

/// Keeps the exception of the lowest task, so that the error that is reported does not depend on timing alone.
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

/// A piece [begin, end) of a range of items.
struct Slice {
  std::size_t begin;
  std::size_t end;
};

/// Piece `i` of `n` nearly equal pieces of [0, n_items).
inline Slice slice_of(std::size_t n_items, std::size_t i, std::size_t n) {
  return {n_items / n * i + std::min(i, n_items % n), n_items / n * (i + 1) + std::min(i + 1, n_items % n)};
}

/// Tasks [next, end) that no thread has taken yet.
struct alignas(64) Share {  // a cache line of its own
  std::atomic<std::size_t> next = 0;
  std::size_t end = 0;
};

/// parallel_for with tasks in up to `n_shares` shares, each of which is begun in rising order.
template <typename Body>
void parallel_for_shares(int n_threads, std::size_t n_shares, std::size_t n_tasks, Body&& body) {
  const int team = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(n_threads, 1)), n_tasks));
  if (team <= 1 || ThreadTeam::is_inside()) {
    for (std::size_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  FirstException first;
  n_shares = std::min(n_shares, static_cast<std::size_t>(team));
  const auto shares = std::make_unique<Share[]>(n_shares);
  for (std::size_t i = 0; i < n_shares; ++i) {
    const Slice tasks = slice_of(n_tasks, i, n_shares);
    shares[i].next = tasks.begin;
    shares[i].end = tasks.end;
  }
  const auto take_tasks = [&](int thread) {
    for (std::size_t i = 0; i < n_shares; ++i) {
      Share& share = shares[(static_cast<std::size_t>(thread) + i) % n_shares];
      for (std::size_t task = share.next++; task < share.end; task = share.next++) {
        try {
          body(task, thread);
        } catch (...) {
          first.keep(task, std::current_exception());
        }
      }
    }
  };
  ThreadTeam::instance().run(team, take_tasks);
  first.rethrow();
}

/// Calls `body(task, thread)` for every task in [0, n_tasks), on up to `n_threads` threads. Each takes a share of the
/// tasks, neighbors in a row, then what others have left of theirs: loops over the same items, one after the other,
/// find most of them in the cache of the processor that had them before. `thread` is in [0, n_threads). The exception
/// of the lowest task that threw is thrown here; tasks above it may or may not have run. A loop within a task runs on
/// the task's thread alone (as thread 0). No collectives inside.
template <typename Body>
void parallel_for(int n_threads, std::size_t n_tasks, Body&& body) {
  parallel_for_shares(n_threads, n_tasks, n_tasks, body);
}

/// The same, but tasks are begun in rising order, whichever threads have them: for items that are found one behind
/// another, as in a packed file.
template <typename Body>
void parallel_for_in_order(int n_threads, std::size_t n_tasks, Body&& body) {
  parallel_for_shares(n_threads, 1, n_tasks, body);
}

/// Calls `body(begin, end, thread)` on pieces of [0, n_items) of at most `grain` items.
template <typename Body>
void parallel_for_slices(int n_threads, std::size_t n_items, std::size_t grain, Body&& body) {
  parallel_for(n_threads, (n_items + grain - 1) / grain, [&](std::size_t task, int thread) {
    body(task * grain, std::min(n_items, (task + 1) * grain), thread);
  });
}

}  // namespace podere
