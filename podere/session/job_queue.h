// The jobs of a session: those that wait, the one that runs, and what became of the others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/jobs/job.h"
#include "podere/report/live_runs.h"

namespace podere::session {

/// Who ordered a job, and as what: events go there.
struct Orderer {
  std::int64_t client = 0;
  Json id;
};

/// Thread-safe.
class JobQueue {
 public:
  enum class State { kWaiting, kRunning, kDone, kFailed, kCancelled };

  /// "waiting", "running", "done", "failed", "cancelled".
  static const char* word_of(State state);

  struct Ordered {
    std::int64_t number;  ///< of the job in this session, from 1
    Orderer by;
    Json job;
    report::RunTitle title;
  };

  /// What `title` lacks is made up for by the job's kind.
  std::int64_t add(const Orderer& by, Json job, report::RunTitle title = {});
  /// Of the jobs before that one, those that wait or run.
  std::size_t n_ahead_of(std::int64_t number) const;
  /// Waits up to `timeout_ms` for a job, which then runs.
  std::optional<Ordered> next(int timeout_ms);
  /// Cancels a job that waits or runs. Returns who ordered those that will not begin. Throws InputError if there is
  /// none of that number.
  std::vector<Orderer> cancel(std::int64_t number);
  /// The same for the job that a client ordered as `id`, or for all its jobs without one.
  std::vector<Orderer> cancel_of(std::int64_t client, const std::optional<Json>& id);
  bool is_cancelled(std::int64_t number) const;

  void note_step(std::int64_t number, const ProgressStep& step);
  void note_line(std::int64_t number, const std::string& line);
  /// `message` is the cause of a failure, `metrics` what the job cost, if that is known.
  void finish(std::int64_t number, State state, const std::string& message = "", Json metrics = nullptr);

  /// The jobs as a list of objects, the last ones of many: "job", "kind", "name", "state", "seconds",
  /// "progress", "message".
  Json describe() const;
  /// One of them with the lines of its "log" and its "metrics". Throws InputError if there is none.
  Json describe(std::int64_t number) const;

 private:
  struct Record {
    Orderer by;
    std::string kind;
    std::string name;
    State state = State::kWaiting;
    bool is_cancelled = false;
    ProgressStep step;
    std::string message;
    std::vector<std::string> log;
    Json metrics;
    Stopwatch since_start;  // before, since it was ordered
    double seconds = 0;     // when over
  };
  Json describe(std::int64_t number, const Record& record) const;
  /// Whether it was waiting, and will not begin.
  bool cancel(Record& record);
  void end(Record& record, State state);
  void forget_cancelled();
  void forget_oldest();

  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  std::deque<Ordered> waiting_;
  std::map<std::int64_t, Record> records_;
  std::size_t n_ended_ = 0;  // of records_
  std::int64_t last_number_ = 0;
};

}  // namespace podere::session
