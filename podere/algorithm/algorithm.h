// What an algorithm that trains models offers to its callers: command line, sessions, Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/algorithm/shared_rows.h"
#include "podere/algorithm/summaries.h"
#include "podere/base/json_fields.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"
#include "podere/table/weighted_labels.h"

namespace podere::algorithm {

/// What a checkpoint holds, read. Of the kind that the algorithm made.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
};

/// A training run beside its rows: its executors, where it begins, and who gets its progress. What is pointed to
/// outlives the run.
struct Run {
  const comm::Communicator& comm;
  int n_threads;
  Progress& progress;
  /// Where it starts, in place of nothing: a model that Trainer::check_base let pass.
  const Model* base = nullptr;
  /// What `offer` was given in a run with the same data, options and base, on any number of executors: the run resumes
  /// there and ends with the same model. Null: it begins.
  const Checkpoint* checkpoint = nullptr;
  /// Called on every rank after each round or step. `make_text` makes the content of a checkpoint, a model file itself,
  /// if one is due; it is made in any case if it `is_wanted`.
  std::function<void(const std::function<std::string()>& make_text, bool is_wanted)> offer =
      [](const std::function<std::string()>&, bool) {};
  Summaries& summaries;
  /// Of an algorithm that has folds: [n_rows] 1 for rows here to train on, 0 for those that early stopping, if there is
  /// any, validates on. On all ranks, or on none.
  std::optional<std::span<const std::uint8_t>> is_training = std::nullopt;
  /// The run ends after so many rounds or epochs in all, those before the checkpoint too, and `offer` is given its
  /// checkpoint, with which the same run resumes; 0: after all. Of an algorithm that keeps checkpoints.
  std::size_t pause_after = 0;
  /// Of several trainings on the same rows. Null: there are no others.
  SharedRows* shared = nullptr;
};

/// What a run ends with. On all ranks.
struct Trained {
  std::unique_ptr<const Model> model;
  /// What the algorithm has to report of the run: "loss", "was_stopped" if it was, ...
  Json facts;
};

/// An algorithm with options chosen.
class Trainer {
 public:
  virtual ~Trainer() = default;

  virtual std::string objective() const = 0;
  /// What it wants of labels.
  virtual table::LabelRules label_rules() const = 0;
  /// What chose the objective, as it is typed, and what learns numbers: for messages about labels that do not fit.
  virtual std::string objective_option() const = 0;
  virtual std::string option_for_numbers() const { return "--objective squared-error of podere train gbt"; }

  /// The share of rows that it sets aside to validate on itself, and which rows shape the model.
  virtual double validation_fraction() const { return 0; }
  virtual bool is_training_row(table::GlobalRow /*row*/) const { return true; }

  /// Throws InputError, beginning with `name`, for a model that no run can start from.
  virtual void check_base(const Model& base, const std::string& name) const;
  /// Throws InputError, beginning with `name`, for a text that is no whole checkpoint.
  virtual std::unique_ptr<const Checkpoint> read_checkpoint(const std::string& text, const std::string& name) const;

  /// Trains on rows whose label must be there and which begin at a row block on every rank. `validation` (may be null)
  /// has the same features. Collective. The model is the same, bit for bit, for any number of ranks and threads.
  /// Reports ProgressSteps of the phase "train" before the first round or step, and often enough after, with the
  /// measures so far; ends after the round or step in which rank 0's progress says stop_requested(). Throws InputError
  /// on all ranks.
  virtual Trained train(const table::RowSource& rows, const table::Table* validation, const Run& run) const = 0;
};

/// An option as the command line shows it.
struct DescribedOption {
  std::string name;  ///< as in jobs: "n_classes", on the command line "--classes"
  Json default_value;
  std::string help;  ///< "Classes; 0: the largest label plus one"
};

/// Of a struct whose visit_fields calls visit("name", self.member, "help").
template <HasFields Options>
std::vector<DescribedOption> described_options() {
  std::vector<DescribedOption> options;
  const Options defaults;
  Options::visit_fields(defaults, [&](const char* name, const auto& value, const char* help) {
    using Value = std::remove_cvref_t<decltype(value)>;
    static_assert(std::is_arithmetic_v<Value> || NamedEnum<Value> || std::is_same_v<Value, std::string>,
                  "the command line has no way to give it");
    options.push_back({name, json_of(value), help});
  });
  return options;
}

/// What an algorithm can do besides training on rows in memory. What it cannot is refused where a user asks for it.
struct Abilities {
  bool streams = false;            ///< goes through rows that are not held in memory
  bool validates = false;          ///< measures validation data itself, while it trains
  bool writes_summaries = false;   ///< Run::summaries
  bool keeps_checkpoints = false;  ///< Run::offer
  bool has_folds = false;          ///< Run::is_training
  bool blends = false;             ///< Algorithm::blend
};

/// An entry of the table of algorithms.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// What jobs, files and Python call it: "trees", "network".
  virtual std::string name() const = 0;
  /// One line for the help of `podere train NAME`, and its options. Both are empty for an algorithm whose command is
  /// written there (cli/train.cc).
  virtual std::string summary() const { return {}; }
  virtual std::vector<DescribedOption> options() const { return {}; }
  virtual Abilities abilities() const { return {}; }
  /// Throws InputError that names an option which it does not have, of the wrong type or out of its range.
  virtual std::unique_ptr<const Trainer> trainer(const Json& options) const = 0;
  /// Options that learn more than two classes where the ones given do not say what to learn: {"objective": "softmax"}.
  virtual Json options_for_classes() const { return Json::object(); }
  /// Options that learn numbers where the ones given do not say what to learn: {"objective": "squared-error"}.
  virtual Json options_for_numbers() const { return Json::object(); }
  /// The option that says how many rounds or epochs there are at most; empty where there is none.
  virtual std::string length_option() const { return {}; }
  /// What is worth searching with these options where users do not say: a space, as tune::Space::from_toml reads it.
  /// Empty: there is none.
  virtual std::string default_space(const Json& /*options*/) const { return {}; }
  /// Options for training on all rows after folds, which leave no rows to validate on: without early stopping, and as
  /// long as the folds trained on average, by their facts (Trained::facts). Others stay as they are.
  virtual Json options_after_folds(Json options, const std::vector<Json>& /*facts*/) const { return options; }

  /// The model whose margins are the means of those of `models`, all of this algorithm, weighted by `weights`, which
  /// sum to 1. Of an algorithm that blends.
  virtual std::unique_ptr<const Model> blend(const std::vector<std::unique_ptr<const Model>>& models,
                                             const std::vector<double>& weights) const;

  /// Whether a text is meant to be a model of this algorithm, whole or not.
  virtual bool is_model(const std::string& text) const = 0;
  /// Throws InputError, beginning with `name`, for text that is not a whole, unaltered model.
  virtual std::unique_ptr<const Model> read_model(const std::string& text, const std::string& name) const = 0;
};

}  // namespace podere::algorithm
