// Trains and measures the trials of a search, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Facts of a trial: of its score over the folds, as that of cross-validation; and the mean of Model::n_parameters.
inline constexpr const char* kStandardError = "standard_error";
inline constexpr const char* kParameters = "parameters";

/// What trials are trained and measured on.
struct TrialRows {
  const table::Table* table = nullptr;
  const table::Table* validation = nullptr;                   ///< null: rows of `table`
  std::vector<std::vector<std::uint8_t>> is_training = {{}};  ///< [parts][n_rows]; of `validation` one empty part
  int n_folds = 0;  ///< whose parts they are, perhaps of several repeats; 0: there are none
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

/// The rows that each part is measured on; none where all are on validation rows.
using HeldOutRows = std::vector<table::Table>;

/// What a trial predicts of the rows that it is measured on.
struct Margins {
  std::vector<std::vector<float>> of_parts;       ///< [parts][n_outputs x rows here]
  std::unique_ptr<const algorithm::Model> model;  ///< that of the last part
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
  /// The same on other rows.
  Trials on(const TrialRows& rows) const { return {algorithm_, options_, score_, rows}; }

  /// A model of all rows that are not for validation. Null: it was stopped. Collective.
  std::unique_ptr<const algorithm::Model> train_on_all(const Json& options, const StepContext& context) const;

  // For trials that are measured together.

  /// Collective.
  HeldOutRows held_out_rows(const StepContext& context) const;
  /// Trains a trial up to the step's budget once more. Nullopt: it was stopped. Collective.
  std::optional<Margins> margins(const tune::Step& step, const HeldOutRows& rows, const StepContext& context) const;
  /// As tune::StepResult::loss of a trial with these margins. `model` says what margins mean. Collective.
  double loss(const std::vector<std::vector<float>>& margins, const HeldOutRows& rows, const algorithm::Model& model,
              const StepContext& context) const;

 private:
  std::optional<algorithm::Trained> train(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part,
                                          std::string& checkpoint, const StepContext& context) const;
  const table::Table& measured_rows(std::size_t part, const HeldOutRows& rows) const {
    return rows_.validation == nullptr ? rows[part] : *rows_.validation;
  }
  bool train_part(const tune::Step& step, const algorithm::Trainer& trainer, std::size_t part,
                  PausedTrial::Part& paused, const StepContext& context) const;
  tune::StepResult result_of(const std::vector<Json>& facts_of_parts) const;

  const algorithm::Algorithm& algorithm_;
  Json options_;
  std::string score_;
  const TrialRows& rows_;
  mutable algorithm::SharedRows shared_;
};

}  // namespace podere::jobs
