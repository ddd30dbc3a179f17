#include "podere/base/waitable_clock.h"

#include <chrono>
#include <cmath>

#include "podere/base/clock.h"

namespace podere {

namespace {

class SteadyClock final : public WaitableClock {
 public:
  double seconds() const override { return since_start_.seconds(); }
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
            double seconds, const std::function<bool()>& is_met) override {
    if (std::isinf(seconds)) return changed.wait(lock, stop, is_met);
    return changed.wait_for(lock, stop, std::chrono::duration<double>(seconds), is_met);
  }

 private:
  Stopwatch since_start_;
};

}  // namespace

void WaitableClock::sleep(double seconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  wait(lock, never, stop, seconds, [] { return false; });
}

WaitableClock& steady_clock() {
  static SteadyClock clock;
  return clock;
}

}  // namespace podere
