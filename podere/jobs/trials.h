// Trains and measures the trials of a search, step by step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

/// All ranks call the same functions in the same order.
class Trials {
 public:
  /// What is given outlives it. `score` may be empty: the first measure.
  Trials(const algorithm::Algorithm& algorithm, Json options, std::string score, const TrialRows& rows,
         const JobContext& context)
      : algorithm_(algorithm), options_(std::move(options)), score_(std::move(score)), rows_(rows), context_(context) {}

  /// Trains a trial on each part from where it paused, or from nothing, and measures it. Nullopt: it was stopped.
  /// Settings with which there is no training are a result that failed. Collective.
  std::optional<tune::StepResult> run(const tune::Step& step, Progress& progress);

  /// The options of all with those of a setting.
  Json options_of(const Json& setting) const;
  /// That a trial gets no more steps.
  void forget(std::size_t trial) { trials_.erase(trial); }

 private:
  /// A trial on one part.
  struct Paused {
    std::string checkpoint;  // empty: it has ended, or not begun
    Json facts;              // of the last measuring; null: there was none
  };
  bool train_part(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part, Paused& paused,
                  Progress& progress);
  tune::StepResult result_of(const std::vector<Paused>& parts);

  const algorithm::Algorithm& algorithm_;
  Json options_;
  std::string score_;
  const TrialRows& rows_;
  const JobContext& context_;
  std::unique_ptr<algorithm::SharedRows> shared_;
  std::map<std::size_t, std::vector<Paused>> trials_;
};

}  // namespace podere::jobs
