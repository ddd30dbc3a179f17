// The threads of this process that parallel loops run on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace podere {

/// Threads that are made when first needed and then wait for work. While it waits, a thread gives its turn to others
/// (sched_yield) for a moment, then sleeps: loops that follow one another find it awake, and on a machine shared with
/// other programs it does not take the processor from a thread that has work. A thread that gets no processor delays
/// no other (docs/decisions/0003-own-threads.md).
class ThreadTeam {
 public:
  /// The team of this process.
  static ThreadTeam& instance();

  /// Calls `body(0)` on the caller, and `body(thread)` for 1 .. n_threads - 1 on those threads that come before the
  /// caller is done, where a thread may come more than once; returns when all calls have. So `body` is a loop that
  /// takes tasks until none is left. It must not throw. Callers from several threads take turns.
  template <typename Body>
  void run(int n_threads, const Body& body) {
    run_raw(
        n_threads, [](const void* b, int thread) { (*static_cast<const Body*>(b))(thread); }, &body);
  }

  /// Whether the calling thread is in a body right now.
  static bool is_inside();

  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

 private:
  using Call = void (*)(const void* body, int thread);
  struct Worker {
    std::atomic<std::uint32_t> n_orders = 0;  // rises by one when there is work, or the end
    std::thread thread;
  };
  static constexpr std::uint32_t kOpen = 1;
  static constexpr std::uint32_t kInside = 2;

  ThreadTeam() = default;
  void run_raw(int n_threads, Call call, const void* body);
  void work(Worker& self, int thread);
  bool enter();
  void leave();

  std::mutex callers_;                            // held by the one whose body runs
  std::vector<std::unique_ptr<Worker>> workers_;  // worker i is thread i + 1
  Call call_ = nullptr;
  const void* body_ = nullptr;
  int n_threads_ = 0;
  std::atomic<std::uint32_t> gate_ = 0;  // kOpen while threads may enter the body, plus kInside for each that is in it
  std::atomic<bool> is_ending_ = false;
};

}  // namespace podere
