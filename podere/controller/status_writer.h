// Writes statuses in the background.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/waitable_clock.h"
#include "podere/controller/writer.h"
#include "podere/kube/event_recorder.h"
#include "podere/kube/token_bucket.h"

namespace podere::controller {

/// Whose status it is.
using StatusSubject = kube::EventObject;

struct StatusWriterOptions {
  double seconds_between = 1;  ///< writes of one status; of those submitted meanwhile the last is written
  /// Of all statuses. When one farm asks, the statuses of all others change: executors come first.
  double per_second = 30;
  double burst = 30;
  int concurrency = 2;  ///< writes at a time
  double first_retry_seconds = 0.5;
  double longest_retry_seconds = 15;
  WaitableClock* clock = &steady_clock();  ///< outlives the writer
};

/// Writes on a thread of its own: when one farm asks, many statuses change, and executors do not wait for that.
/// What fails is tried again, ever later, until the object has gone; ends when this process may write no longer.
class StatusWriter {
 public:
  /// `is_there`: whether the object, and not one of the same name that came after, is there as far as is known; called
  /// from the thread.
  StatusWriter(Writer& writer, std::function<bool(const StatusSubject&)> is_there,
               std::function<void(const std::string&)> log, StatusWriterOptions options = {});
  /// Finishes writes that were begun; others are dropped.
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  /// The status is to be this one. Thread-safe.
  void submit(const StatusSubject& subject, Json status);

 private:
  struct Update {
    StatusSubject subject = {};
    Json status = {};  ///< null: it has been written
    double due = 0;
    unsigned n_failures = 0;
    bool is_fresh = true;  ///< since the last attempt
  };

  void run(const std::stop_token& stop);
  std::vector<Update> wait_for_due(const std::stop_token& stop);
  void write(const Update& update);
  void settle(const Update& update, bool is_done);

  Writer& writer_;
  const std::function<bool(const StatusSubject&)> is_there_;
  const std::function<void(const std::string&)> log_;
  const StatusWriterOptions options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Update> updates_;  // by UID; with what follows guarded by mutex_
  std::uint64_t n_submitted_ = 0;
  kube::TokenBucket turns_;
  std::jthread thread_;
};

}  // namespace podere::controller
