// Trains and measures the trials of a search, step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/jobs/job_context.h"
#include "podere/table/table.h"
#include "podere/tune/study.h"

namespace podere::jobs {

/// Whether more of a measure is better.
bool is_maximized(const std::string& measure);

/// The measure that training minimizes, of the facts of a trial.
std::string default_score(const Json& facts);

/// What trials are trained and measured on.
struct TrialRows {
  const table::Table* table = nullptr;
  const table::Table* validation = nullptr;                   ///< null: rows of `table`
  std::vector<std::vector<std::uint8_t>> is_training = {{}};  ///< [parts][n_rows]; of `validation` one empty part
};

/// A trial between its steps. With it, any executor trains it further.
struct PausedTrial {
  struct Part {
    std::string checkpoint;  ///< empty: it has ended
    Json facts;              ///< of the last measuring
  };
  std::vector<Part> parts;  ///< none: it has not begun

  Json to_json() const;
  static PausedTrial from_json(const Json& json);
};

/// By whom a step is done.
struct StepContext {
  const comm::Communicator& comm;
  int n_threads;
  Progress& progress;
};

class Trials {
 public:
  /// What is given outlives it. `score` may be empty: the first measure.
  Trials(const algorithm::Algorithm& algorithm, Json options, std::string score, const TrialRows& rows)
      : algorithm_(algorithm), options_(std::move(options)), score_(std::move(score)), rows_(rows) {}

  /// Trains a trial on each part from where it paused, or from nothing, and measures it. Nullopt: it was stopped, and
  /// `trial` begins anew. Settings with which there is no training are a result that failed. Collective, but
  /// steps that executors do alone may run at the same time.
  std::optional<tune::StepResult> run(const tune::Step& step, PausedTrial& trial, const StepContext& context) const;

  /// The options of all with those of a setting.
  Json options_of(const Json& setting) const;

 private:
  bool train_part(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part,
                  PausedTrial::Part& paused, const StepContext& context) const;
  tune::StepResult result_of(const std::vector<PausedTrial::Part>& parts) const;

  const algorithm::Algorithm& algorithm_;
  Json options_;
  std::string score_;
  const TrialRows& rows_;
  mutable algorithm::SharedRows shared_;
};

}  // namespace podere::jobs
