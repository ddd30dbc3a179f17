#include "podere/kube/work_queue.h"

#include <chrono>

namespace podere::kube {

void WorkQueue::add(const ObjectKey& key) {
  const std::scoped_lock lock(mutex_);
  push(key);
}

void WorkQueue::push(const ObjectKey& key) {
  if (!wanted_.insert(key).second) return;
  ++n_added_;
  if (worked_on_.contains(key)) return;  // finish() will see it
  ready_.push_back(key);
  changed_.notify_one();
}

void WorkQueue::add_after(const ObjectKey& key, double seconds) {
  const std::scoped_lock lock(mutex_);
  delay(key, seconds);
}

void WorkQueue::delay(const ObjectKey& key, double seconds) {
  if (seconds <= 0) return push(key);
  const double due = clock_.seconds() + seconds;
  const auto [entry, is_new] = due_times_.try_emplace(key, due);
  if (!is_new) {
    if (entry->second <= due) return;
    by_due_time_.erase({entry->second, key});
    entry->second = due;
  }
  by_due_time_.emplace(due, key);
  changed_.notify_one();
}

void WorkQueue::retry(const ObjectKey& key) {
  const std::scoped_lock lock(mutex_);
  ++n_retries_;
  delay(key, delays_.next(key, clock_.seconds()));
}

void WorkQueue::forget(const ObjectKey& key) {
  const std::scoped_lock lock(mutex_);
  delays_.forget(key);
}

void WorkQueue::push_due() {
  while (!by_due_time_.empty() && by_due_time_.begin()->first <= clock_.seconds()) {
    const ObjectKey key = by_due_time_.begin()->second;
    by_due_time_.erase(by_due_time_.begin());
    due_times_.erase(key);
    push(key);
  }
}

std::optional<WorkQueue::Work> WorkQueue::take() {
  std::unique_lock lock(mutex_);
  while (!is_shut_down_) {
    push_due();
    if (!ready_.empty()) {
      ObjectKey key = std::move(ready_.front());
      ready_.pop_front();
      wanted_.erase(key);
      worked_on_.insert(key);
      changed_.notify_one();  // this thread may have been the one that waits for the next delayed key
      return std::optional<Work>(std::in_place, *this, std::move(key));
    }
    if (by_due_time_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, std::chrono::duration<double>(by_due_time_.begin()->first - clock_.seconds()));
    }
  }
  return std::nullopt;
}

void WorkQueue::finish(const ObjectKey& key) {
  const std::scoped_lock lock(mutex_);
  worked_on_.erase(key);
  if (!wanted_.contains(key)) return;
  ready_.push_back(key);
  changed_.notify_one();
}

void WorkQueue::shut_down() {
  const std::scoped_lock lock(mutex_);
  is_shut_down_ = true;
  changed_.notify_all();
}

WorkQueue::Counts WorkQueue::counts() const {
  const std::scoped_lock lock(mutex_);
  return {ready_.size(), by_due_time_.size(), worked_on_.size(), n_added_, n_retries_};
}

}  // namespace podere::kube
