#include "podere/base/thread_team.h"

#include <sched.h>

namespace podere {
namespace {

thread_local bool is_in_body = false;

/// Returns when `value` is no longer `old`.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int kYields = 1000;  // about a fifth of a millisecond where no other thread wants the processor
  for (int i = 0; i < kYields; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    sched_yield();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam& ThreadTeam::instance() {
  static ThreadTeam team;
  return team;
}

bool ThreadTeam::is_inside() { return is_in_body; }

ThreadTeam::~ThreadTeam() {
  is_ending_ = true;
  for (const auto& worker : workers_) {
    worker->n_orders.fetch_add(1, std::memory_order_release);
    worker->n_orders.notify_one();
  }
  for (const auto& worker : workers_) worker->thread.join();
}

void ThreadTeam::run_raw(int n_threads, Call call, const void* body) {
  const std::lock_guard lock(callers_);
  const auto n_workers = static_cast<std::size_t>(n_threads - 1);
  while (workers_.size() < n_workers) {
    workers_.reserve(workers_.size() + 1);
    auto worker = std::make_unique<Worker>();
    const int thread = static_cast<int>(workers_.size()) + 1;
    worker->thread = std::thread([this, &self = *worker, thread] { work(self, thread); });  // may throw
    workers_.push_back(std::move(worker));
  }
  call_ = call;
  body_ = body;
  n_threads_ = n_threads;
  gate_.store(kOpen, std::memory_order_release);
  for (std::size_t i = 0; i < n_workers; ++i) {
    workers_[i]->n_orders.fetch_add(1, std::memory_order_release);
    workers_[i]->n_orders.notify_one();
  }
  is_in_body = true;
  call(body, 0);
  is_in_body = false;
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (std::uint32_t inside = gate_.load(std::memory_order_acquire); inside != 0;
       inside = gate_.load(std::memory_order_acquire)) {
    wait_while(gate_, inside);
  }
}

bool ThreadTeam::enter() {
  std::uint32_t gate = gate_.load(std::memory_order_relaxed);
  while ((gate & kOpen) != 0) {
    if (gate_.compare_exchange_weak(gate, gate + kInside, std::memory_order_acquire, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void ThreadTeam::leave() {
  const bool is_last = gate_.fetch_sub(kInside, std::memory_order_release) == kInside;
  if (is_last) gate_.notify_one();
}

void ThreadTeam::work(Worker& self, int thread) {
  is_in_body = true;
  for (std::uint32_t n_seen = 0;;) {
    wait_while(self.n_orders, n_seen);
    n_seen = self.n_orders.load(std::memory_order_acquire);
    if (is_ending_) return;
    if (!enter()) continue;                         // the caller was done without it
    if (thread < n_threads_) call_(body_, thread);  // false in a later, smaller loop than the one it was called for
    leave();
  }
}

}  // namespace podere
