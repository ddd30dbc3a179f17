// What a report shows of a model and of rows, beside the result of a job.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "podere/algorithm/model.h"
#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job.h"
#include "podere/jobs/measures.h"
#include "podere/report/curve.h"
#include "podere/source/source_spec.h"
#include "podere/table/table.h"

namespace podere::jobs {

inline constexpr std::size_t kRocPoints = 1000;

/// How a report calls rows: "higgs.csv", "higgs.csv, rows 12000:".
std::string name_of(const source::SourceSpec& source);

/// "objective", "classes" where they have texts, and "importance" of features ("feature", "gain", "splits") where the
/// model has it; on rank 0 also "sha256" of the model's file. Local.
Json model_facts(const comm::Communicator& comm, const algorithm::Model& model);

/// The measures of some rows, those of `measure` or `measures` where these were taken already, with "rows" (`which`:
/// "training", "validation", "test"), "data", "n_rows", and for two classes "scores" ("bins", and "weights" of each
/// class by predicted probability; with weights also "squares", the sums of their squares), for numbers "residuals"
/// ("edges", "weights"). Collective. Throws as measure.
Json measured_facts(const comm::Communicator& comm, const algorithm::Model& model, const MeasuredRows& rows,
                    const std::string& which, const std::string& data, Json measures = nullptr);

/// Histograms of a table's features by class: "classes" (texts; null for numbers, and for too many classes to draw) and
/// "features". Where there are too many features to draw, those that are first in `importance` (of model_facts) are
/// taken, and "left_out" counts the others. Collective.
Json column_facts(const comm::Communicator& comm, const table::Table& table, const algorithm::Model& model,
                  const Json& importance, int n_threads);

/// Passes reports on and keeps those of training, of which the driver gets only some.
class CurveProgress : public Progress {
 public:
  explicit CurveProgress(Progress& next) : next_(next) {}

  void report(const ProgressStep& step) override;
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override { next_.warn(message); }
  bool stop_requested() override { return next_.stop_requested(); }
  bool checkpoint_requested() override { return next_.checkpoint_requested(); }

  /// Its seconds count from the first report of training.
  const report::Curve& curve() const { return curve_; }

 private:
  Progress& next_;
  std::optional<Stopwatch> since_beginning_;
  report::Curve curve_;
};

}  // namespace podere::jobs
