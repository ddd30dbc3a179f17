// What a driver sees of a run, for a report.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/json.h"
#include "podere/base/progress.h"
#include "podere/report/curve.h"

namespace podere::report {

/// Seconds left if the steps since `first_done` took `elapsed_seconds`; negative if that is not known yet.
double seconds_left(const ProgressStep& step, std::size_t first_done, double elapsed_seconds);

/// Passes reports on, and keeps when phases began, how measures went, and warnings.
class RunRecorder : public Progress {
 public:
  explicit RunRecorder(Progress& next) : next_(next) {}

  void report(const ProgressStep& step) override;
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override;
  bool stop_requested() override { return next_.stop_requested(); }
  bool checkpoint_requested() override { return next_.checkpoint_requested(); }

  /// The run as a report has it, but for "name". `command` is a word such as "train", `arguments` what was typed.
  /// `result` is that of the job, which ends now, with all tasks; what executors made for the report is its "report".
  /// null: the job still runs; then the result has the trials of a search so far.
  Json run(const std::string& command, const std::string& arguments, Json result) const;

  /// The last report; nothing before the first.
  const std::optional<ProgressStep>& last_step() const { return last_step_; }
  /// Of the phase that runs now; negative if that is not known yet.
  double seconds_left() const;

 private:
  struct Phase {
    std::string name;
    double begin;
    double end;
    std::size_t first_done;
  };
  struct Event {
    double seconds;
    std::string message;
  };
  Progress& next_;
  const std::string began_ = now();
  const Stopwatch watch_;
  std::vector<Phase> phases_;
  std::optional<ProgressStep> last_step_;
  Curve curve_;  // of training
  std::vector<Event> events_;
  std::string score_;                   // of a search; empty: not known yet
  std::map<std::size_t, Json> trials_;  // its trials as they are now

  static std::string now();
  /// By the executors that ended it.
  double training_began() const;
};

}  // namespace podere::report
