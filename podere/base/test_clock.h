// A clock that a test turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "podere/base/waitable_clock.h"

namespace podere {

/// Stands still until turned. A test first lets its threads come to rest: then each waits for this clock, and what the
/// next turn does no longer depends on how busy the machine is.
class TestClock final : public WaitableClock {
 public:
  double seconds() const override {
    const std::scoped_lock lock(mutex_);
    return now_;
  }

  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
            double seconds, const std::function<bool()>& is_met) override {
    const Waiter waiter{this->seconds() + seconds, lock.mutex(), &changed, &is_met};
    {
      const std::scoped_lock own(mutex_);
      waiters_.push_back(&waiter);
    }
    changed.wait(lock, stop, [&] { return is_met() || this->seconds() >= waiter.end; });
    const std::scoped_lock own(mutex_);
    std::erase(waiters_, &waiter);
    return is_met();
  }

  void turn(double seconds) {
    std::unique_lock lock(mutex_);
    now_ += seconds;
    while (!for_each_waiter([](const Waiter& waiter) { waiter.changed->notify_all(); })) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }

  /// Whether `n_threads` wait for this clock and nothing would wake them by now. Waits for that, 10 s of the machine's.
  bool comes_to_rest(std::size_t n_threads) const {
    return comes_true([&] { return n_at_rest() == n_threads; });
  }

  /// Turns by `step` whenever `n_threads` are at rest, until `what` is true; false after 1,000 steps.
  bool turns_until(const std::function<bool()>& what, std::size_t n_threads, double step) {
    for (int i = 0; i < 1000; ++i) {
      if (!comes_true([&] { return what() || n_at_rest() == n_threads; })) return false;
      if (what()) return true;
      turn(step);
    }
    return false;
  }

  /// Waits for what threads do without this clock, 10 s of the machine's.
  static bool comes_true(const std::function<bool()>& what) {
    for (int i = 0; i < 10'000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

 private:
  struct Waiter {
    double end;
    std::mutex* mutex;
    std::condition_variable_any* changed;
    const std::function<bool()>* is_met;
  };

  /// With each waiter's lock, so that none is between its look at the time and its wait. False if some lock was taken:
  /// the caller, who has mutex_, gives it away for a moment and tries again.
  bool for_each_waiter(const std::function<void(const Waiter&)>& what) const {
    bool all = true;
    for (const Waiter* const waiter : waiters_) {
      const std::unique_lock lock(*waiter->mutex, std::try_to_lock);
      lock ? what(*waiter) : static_cast<void>(all = false);
    }
    return all;
  }
  std::size_t n_at_rest() const {
    const std::scoped_lock lock(mutex_);
    std::size_t n = 0;
    for_each_waiter([&](const Waiter& waiter) { n += now_ < waiter.end && !(*waiter.is_met)() ? 1 : 0; });
    return n;
  }

  mutable std::mutex mutex_;  // guards what follows; a thread that waits has its own lock before
  double now_ = 0;
  std::vector<const Waiter*> waiters_;
};

}  // namespace podere
