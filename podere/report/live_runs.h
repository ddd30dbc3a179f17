// The runs of a driver, for a page that follows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "podere/base/json.h"
#include "podere/base/progress.h"
#include "podere/report/run_recorder.h"

namespace podere::report {

/// What a run is called.
struct RunTitle {
  std::string name;       ///< as lists of runs show it
  std::string command;    ///< "train"
  std::string arguments;  ///< what was typed; empty where nothing was
};

/// Keeps the runs of a driver's jobs while they run, and the last ones that ended. Thread-safe.
class LiveRuns {
 public:
  /// Of the runs that ended the newest stay, as far as their texts have no more bytes together; each executor's figures
  /// (result.metrics.tasks) stay for the last 16 jobs.
  explicit LiveRuns(std::size_t most_bytes = std::size_t{64} << 20) : most_bytes_(most_bytes) {}

  /// A job begins: its number is larger than those before.
  void begin(std::int64_t job, RunTitle title);
  void report(std::int64_t job, const ProgressStep& step);
  void warn(std::int64_t job, const std::string& message);
  /// `result` as for RunRecorder::run; null for a job without one, whose `state` says why: "failed", "interrupted".
  void end(std::int64_t job, Json result, const std::string& state = "");

  /// "revision", which grows with each change, and "seconds_left" of the phase (null: not known); null for a job that
  /// has not begun, or is no longer kept.
  Json state(std::int64_t job) const;
  /// The run as a report has it, as JSON text; nothing for a job that has not begun, or is no longer kept.
  std::optional<std::string> text(std::int64_t job) const;

 private:
  struct NoReader : Progress {};
  struct Run {
    explicit Run(RunTitle of) : title(std::move(of)) {}
    RunTitle title;
    NoReader reader;
    std::unique_ptr<RunRecorder> recorder = std::make_unique<RunRecorder>(reader);  // until it ends
    std::size_t revision = 1;
    std::string text;  // once it has ended
    bool has_ended() const { return !recorder; }
  };
  static std::string text_of(std::int64_t job, const Run& run, Json result, const std::string& state);
  /// Of a run that ended long ago.
  void forget_tasks(std::int64_t job);
  void forget_oldest();

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards all that follows
  std::map<std::int64_t, std::unique_ptr<Run>> runs_;
  std::size_t n_bytes_ = 0;  // of their texts
};

}  // namespace podere::report
