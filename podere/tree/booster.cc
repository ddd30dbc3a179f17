#include "podere/tree/booster.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/evaluate/classification.h"
#include "podere/table/features.h"
#include "podere/tree/labels.h"
#include "podere/tree/objective.h"
#include "podere/tree/predict.h"

namespace podere::tree {

/// Rows that judge the model and do not shape it: a table of their own, or rows set aside of the training table.
class Booster::Validation {
 public:
  /// Of all rows of a table of their own, or of those in the training table with a zero in `is_training` [n_rows].
  Validation(const table::Table& table, std::optional<std::span<const std::uint8_t>> is_training, const Model& model,
             const comm::Communicator& comm, int n_threads)
      : comm_(comm),
        n_threads_(n_threads),
        options_(model.options),
        n_outputs_(model.n_outputs()),
        labels_(weigh_labels(table, is_training.value_or(std::span<const std::uint8_t>()), 0, model.options,
                             "validation", comm)) {
    if (!is_training) {
      columns_ = table::feature_columns(model.schema, table);
      own_margins_ = start_margins(model.base_margin, table.n_rows());
    }
    const bool has_weights = !table.weight().empty();
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      if (is_training && (*is_training)[i] != 0) continue;
      rows_.push_back(i);
      label_.push_back(table.label()[i]);
      if (has_weights) weight_.push_back(table.weight()[i]);
    }
  }

  /// Takes in the trees of one or more rounds.
  void take_trees(std::span<const Tree> trees) {
    if (!own_margins_.empty()) add_trees(trees, n_outputs_, columns_, n_threads_, own_margins_);
  }

  /// The loss. `training_margins` are those of the training table.
  double loss(std::span<const float> training_margins) {
    compute_gradients(options_, labels_.rows, margins(training_margins), n_outputs_, comm_, n_threads_, gradients_);
    return gradients_.loss;
  }

  /// Of two classes; nothing for other objectives. Collective.
  std::optional<double> auc(std::span<const float> training_margins) const {
    if (traits_of(options_.objective).labels != table::LabelKind::kTwoClasses) return std::nullopt;
    std::vector<float> scores;
    scores.reserve(rows_.size());
    for (const std::size_t row : rows_) scores.push_back(margins(training_margins)[row]);
    return evaluate::auc(comm_, scores, label_, weight_);
  }

 private:
  std::span<const float> margins(std::span<const float> training_margins) const {
    return columns_.empty() ? training_margins : own_margins_;
  }

  const comm::Communicator& comm_;
  int n_threads_;
  const Options& options_;
  std::size_t n_outputs_;
  WeightedLabels labels_;                        // weight 0 for rows that are not validated
  std::vector<std::span<const float>> columns_;  // of a table of its own
  std::vector<float> own_margins_;               // of a table of its own
  std::vector<std::size_t> rows_;                // local numbers of the rows that are validated
  std::vector<float> label_;                     // of these
  std::vector<float> weight_;                    // of these; empty without weights
  Gradients gradients_;
};

Booster::Booster(Model& model, const table::Table& table, const LabeledRows& rows, std::size_t n_base_rounds,
                 const comm::Communicator& comm, int n_threads)
    : model_(model), table_(table), rows_(rows), n_base_rounds_(n_base_rounds), comm_(comm), n_threads_(n_threads) {}

Booster::~Booster() = default;

void Booster::validate_on(const table::Table& table, std::optional<std::span<const std::uint8_t>> is_training) {
  validation_ = std::make_unique<Validation>(table, is_training, model_, comm_, n_threads_);
}

void Booster::replay(const Model& base) {
  const auto columns = table::feature_columns(base.schema, table_);
  const std::size_t n_outputs = base.n_outputs();
  margins_ = start_margins(model_.base_margin, n_rows());
  for (std::size_t round = 0; round < base.n_rounds(); ++round) {
    const auto trees = std::span(base.trees).subspan(round * n_outputs, n_outputs);
    add_trees(trees, n_outputs, columns, n_threads_, margins_);
    take_round({trees.begin(), trees.end()});
  }
}

void Booster::resume(const Model& checkpoint, const table::RowSource& source) {
  const std::size_t n_outputs = checkpoint.n_outputs();
  margins_ = start_margins(model_.base_margin, n_rows());
  std::size_t first = 0;
  source.for_each_window([&](const table::Table& window) {
    std::vector<float> window_margins = start_margins(model_.base_margin, window.n_rows());
    add_trees(checkpoint.trees, n_outputs, table::feature_columns(checkpoint.schema, window), n_threads_,
              window_margins);
    for (std::size_t k = 0; k < n_outputs; ++k) {
      const auto of_output = std::span(window_margins).subspan(k * window.n_rows(), window.n_rows());
      std::ranges::copy(of_output, margins(k).subspan(first).begin());
    }
    first += window.n_rows();
  });
  if (validation_) validation_->take_trees(checkpoint.trees);
  model_.trees = checkpoint.trees;
  model_.history = checkpoint.history;
  const std::vector<double>& losses = model_.history.validation_loss;
  for (std::size_t round = 0; round < losses.size(); ++round) follow_validation_loss(losses[round], round);
}

void Booster::start() {
  if (margins_.empty()) margins_ = start_margins(model_.base_margin, n_rows());
  compute_gradients_and_check();
}

void Booster::compute_gradients_and_check() {
  compute_gradients(model_.options, rows_, margins_, model_.n_outputs(), comm_, n_threads_, gradients_);
  // What is looked at is the same on all ranks.
  if (std::isfinite(gradients_.max_abs_g) && std::isfinite(gradients_.max_abs_h) && std::isfinite(gradients_.loss)) {
    return;
  }
  if (model_.trees.empty()) {
    throw InputError(
        "training data: labels or weights are too large, or base-score or max-delta-step is: the loss overflows");
  }
  throw_input_error(
      "the loss is no longer finite after {} trees: use a smaller learning-rate, a larger lambda or a larger "
      "min-child-weight (negative weights can leave a leaf almost without weight)",
      model_.n_rounds());
}

void Booster::take_round(std::vector<Tree> trees) {
  for (Tree& tree : trees) model_.trees.push_back(std::move(tree));
  compute_gradients_and_check();
  model_.history.train_loss.push_back(gradients_.loss);
  if (!validation_) return;
  validation_->take_trees(std::span(model_.trees).last(model_.n_outputs()));
  const double loss = validation_->loss(margins_);
  model_.history.validation_loss.push_back(loss);
  follow_validation_loss(loss, model_.n_rounds() - 1);
}

/// Base rounds stay: of them the last counts as the best so far.
void Booster::follow_validation_loss(double loss, std::size_t round) {
  if (loss >= best_loss_ && round >= n_base_rounds_) return;
  best_loss_ = loss;
  best_round_ = round;
}

ProgressStep Booster::progress(std::size_t n_rounds) const {
  ProgressStep step{
      .phase = "train", .done = model_.n_rounds(), .total = n_rounds, .metrics = {{"loss", gradients_.loss}}};
  if (!validation_ || model_.history.validation_loss.empty()) return step;
  step.metrics.emplace_back("validation_loss", model_.history.validation_loss.back());
  if (const auto auc = validation_->auc(margins_)) step.metrics.emplace_back("validation_auc", *auc);
  return step;
}

bool Booster::has_converged() const {
  const auto patience = static_cast<std::size_t>(model_.options.early_stopping_rounds);
  return patience > 0 && model_.n_rounds() > best_round_ + patience;
}

void Booster::keep_best_rounds() {
  const std::size_t n_rounds = best_round_ + 1;
  model_.trees.resize(n_rounds * model_.n_outputs());
  model_.history.keep(n_rounds);
}

}  // namespace podere::tree
