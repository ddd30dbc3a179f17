// Objects that want to be looked at.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "podere/base/clock.h"
#include "podere/kube/retry_delays.h"

namespace podere::kube {

/// Keys of objects, in the order in which they came, each at most once however often it was added. A key that is worked
/// on is given to no other worker; added meanwhile, it comes again afterwards. Thread-safe.
///
///     while (const auto work = queue.take()) {
///       try { reconcile(work->key()); queue.forget(work->key()); }
///       catch (const Error& error) { queue.retry(work->key()); }
///     }
class WorkQueue {
 public:
  /// A key being worked on, until this goes.
  class Work {
   public:
    Work(WorkQueue& queue, ObjectKey key) : queue_(&queue), key_(std::move(key)) {}
    Work(Work&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)), key_(std::move(other.key_)) {}
    Work& operator=(Work&&) = delete;
    ~Work() {
      if (queue_ != nullptr) queue_->finish(key_);
    }
    const ObjectKey& key() const { return key_; }

   private:
    WorkQueue* queue_;
    ObjectKey key_;
  };

  explicit WorkQueue(const RetryOptions& retries = {}) : delays_(retries) {}
  /// All Work must have gone.
  ~WorkQueue() = default;
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const ObjectKey& key);
  /// The soonest of several holds.
  void add_after(const ObjectKey& key, double seconds);
  /// After a failure: later each time, until forget().
  void retry(const ObjectKey& key);
  void forget(const ObjectKey& key);

  /// Waits for a key. Nothing after shut_down().
  std::optional<Work> take();
  /// No worker gets any more work.
  void shut_down();

  struct Counts {
    std::size_t n_waiting = 0;  ///< ready now
    std::size_t n_delayed = 0;
    std::size_t n_worked_on = 0;
    std::uint64_t n_added = 0;  ///< so far, but for keys that were waiting already
    std::uint64_t n_retries = 0;
  };
  Counts counts() const;

 private:
  void finish(const ObjectKey& key);
  // With the lock.
  void push(const ObjectKey& key);
  void delay(const ObjectKey& key, double seconds);
  void push_due();

  const Stopwatch clock_;
  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::deque<ObjectKey> ready_;
  std::unordered_set<ObjectKey> wanted_;  // ready, or worked on and added meanwhile
  std::unordered_set<ObjectKey> worked_on_;
  std::set<std::pair<double, ObjectKey>> by_due_time_;
  std::unordered_map<ObjectKey, double> due_times_;  // the same, by key
  RetryDelays delays_;
  bool is_shut_down_ = false;
  std::uint64_t n_added_ = 0;
  std::uint64_t n_retries_ = 0;
};

}  // namespace podere::kube
