// A clock that threads wait for.
#pragma once

#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <stop_token>

namespace podere {

/// Passed in where time decides what a thread does, so that tests can turn it: base/test_clock.h. Thread-safe.
class WaitableClock {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  WaitableClock() = default;
  virtual ~WaitableClock() = default;
  WaitableClock(const WaitableClock&) = delete;
  WaitableClock& operator=(const WaitableClock&) = delete;

  /// Since some moment in the past; never less than before.
  virtual double seconds() const = 0;
  /// Waits until `is_met()`, `stop` is requested, or `seconds` are over. What makes `is_met` true notifies `changed`,
  /// which `lock` guards. Returns is_met().
  virtual bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed,
                    const std::stop_token& stop, double seconds, const std::function<bool()>& is_met) = 0;
  /// Waits until `stop` is requested or `seconds` are over.
  void sleep(double seconds, const std::stop_token& stop);
};

/// That of the machine, for the whole process; setting the time of day does not change it.
WaitableClock& steady_clock();

}  // namespace podere
