// What a driver sees of a run, for a report.
#pragma once

#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/json.h"
#include "podere/base/progress.h"
#include "podere/report/curve.h"

namespace podere::report {

/// Passes reports on, and keeps when phases began, how measures went, and warnings.
class RunRecorder : public Progress {
 public:
  explicit RunRecorder(Progress& next) : next_(next) {}

  void report(const ProgressStep& step) override;
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override;
  bool stop_requested() override { return next_.stop_requested(); }
  bool checkpoint_requested() override { return next_.checkpoint_requested(); }

  /// The run as a report has it, but for "name": it ends now. `command` is a word such as "train", `arguments` what was
  /// typed. `result` is that of the job, with all tasks; what executors made for the report is its "report".
  Json run(const std::string& command, const std::string& arguments, Json result) const;

 private:
  struct Phase {
    std::string name;
    double begin;
    double end;
  };
  struct Event {
    double seconds;
    std::string message;
  };
  Progress& next_;
  const std::string began_ = now();
  const Stopwatch watch_;
  std::vector<Phase> phases_;
  Curve curve_;  // of training
  std::vector<Event> events_;

  static std::string now();
  /// By the executors that ended it.
  double training_began() const;
};

}  // namespace podere::report
