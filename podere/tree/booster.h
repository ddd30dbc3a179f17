// A model under way, round by round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"
#include "podere/tree/gradient.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// The rounds of a model so far, the margins they give the training rows, and what the next round starts from.
class Booster {
 public:
  /// Fills `model`, which has base margins and no trees, from `table` with labels and weights `rows` (0 where a row is
  /// not trained on); all outlive this. Early stopping keeps the first `n_base_rounds`.
  Booster(Model& model, const table::Table& table, const LabeledRows& rows, std::size_t n_base_rounds,
          const comm::Communicator& comm, int n_threads);
  ~Booster();
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  /// Follows the loss on `table` too: on all of its rows, or where it is the training table on those with a zero in
  /// `is_training` [n_rows]. Before start(). Collective. Throws InputError as weigh_labels.
  void validate_on(const table::Table& table, std::optional<std::span<const std::uint8_t>> is_training);

  /// Takes the rounds of `base`, whose features the training table holds, one by one: the same additions in the same
  /// order as when they were grown. Before start(). Collective. Throws as take_round.
  void replay(const Model& base);

  /// Takes all rounds of a model that was trained on these rows, and its history. `source` has the features of the
  /// training table. Before start().
  void resume(const Model& checkpoint, const table::RowSource& source);

  /// Readies margins and gradients for the next round: memory that need not stand beside the features. Collective.
  /// Throws as take_round.
  void start();

  /// At the margins so far, from start() on.
  const Gradients& gradients() const { return gradients_; }
  /// Of one output [n_rows], to which its new tree is to be added.
  std::span<float> margins(std::size_t output) { return std::span(margins_).subspan(output * n_rows(), n_rows()); }

  /// Takes the new trees, one an output, whose values are already in the margins. Collective. Throws InputError, on all
  /// ranks, for a loss that is no longer finite.
  void take_round(std::vector<Tree> trees);

  /// How far this is on the way to `n_rounds`. Collective.
  ProgressStep progress(std::size_t n_rounds) const;
  /// Whether as many rounds as early stopping has patience for brought no progress.
  bool has_converged() const;
  void keep_best_rounds();

 private:
  class Validation;
  std::size_t n_rows() const { return rows_.label.size(); }
  void compute_gradients_and_check();
  void follow_validation_loss(double loss, std::size_t round);

  Model& model_;
  const table::Table& table_;
  const LabeledRows& rows_;
  const std::size_t n_base_rounds_;
  const comm::Communicator& comm_;
  int n_threads_;
  std::vector<float> margins_;  // [n_outputs x n_rows]; empty until they are needed
  Gradients gradients_;
  std::unique_ptr<Validation> validation_;  // null: nothing to validate on
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t best_round_ = 0;
};

}  // namespace podere::tree
