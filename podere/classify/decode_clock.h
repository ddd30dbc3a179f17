// Watches over decoders that do not end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace podere::classify {

/// Looks a few times a second how much processor time threads have had since they began with a picture: time that they
/// wait, for a file or on a busy machine, does not count.
class DecodeClock {
 public:
  /// `on_too_long` is called with a task that has had more than `most_seconds`, on a thread of its own,
  /// and must not wait for one that decodes.
  DecodeClock(int n_threads, int most_seconds, std::function<void(std::uint64_t task)> on_too_long);
  ~DecodeClock();
  DecodeClock(const DecodeClock&) = delete;
  DecodeClock& operator=(const DecodeClock&) = delete;

  /// Calls `body` on this thread, which is number `thread`, and returns what it returns.
  template <typename Body>
  auto in(int thread, std::uint64_t task, Body&& body) {
    begin(thread, task);
    struct AtEnd {
      DecodeClock& clock;
      int thread;
      ~AtEnd() { clock.end(thread); }
    } at_end{*this, thread};
    return body();
  }

 private:
  struct Turn {
    std::uint64_t task;
    clockid_t clock;  // of the thread
    double begin;     // its seconds
  };
  void begin(int thread, std::uint64_t task);
  void end(int thread);
  void watch();

  const int most_seconds_;
  const std::function<void(std::uint64_t task)> on_too_long_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ends_;
  bool is_over_ = false;
  std::vector<std::optional<Turn>> turns_;  // [n_threads]
  std::thread watcher_;
};

}  // namespace podere::classify
