#include "podere/classify/decode_clock.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "podere/base/error.h"

namespace podere::classify {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(250);

double seconds_of(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

DecodeClock::DecodeClock(int n_threads, int most_seconds, std::function<void(std::uint64_t task)> on_too_long)
    : most_seconds_(most_seconds),
      on_too_long_(std::move(on_too_long)),
      turns_(static_cast<std::size_t>(n_threads)),
      watcher_([this] { watch(); }) {}

DecodeClock::~DecodeClock() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_all();
  watcher_.join();
}

void DecodeClock::begin(int thread, std::uint64_t task) {
  Turn turn{task, 0, 0};
  if (pthread_getcpuclockid(pthread_self(), &turn.clock) != 0) throw_error("a thread's clock cannot be read");
  turn.begin = seconds_of(turn.clock);
  const std::lock_guard lock(mutex_);
  turns_[static_cast<std::size_t>(thread)] = turn;
}

void DecodeClock::end(int thread) {
  const std::lock_guard lock(mutex_);
  turns_[static_cast<std::size_t>(thread)].reset();
}

void DecodeClock::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kBetween, [&] { return is_over_; })) {
    for (const std::optional<Turn>& turn : turns_) {
      if (turn && seconds_of(turn->clock) - turn->begin > most_seconds_) on_too_long_(turn->task);
    }
  }
}

}  // namespace podere::classify
