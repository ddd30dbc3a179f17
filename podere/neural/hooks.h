// Callbacks after each step of a training run.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "podere/neural/model.h"
#include "podere/neural/validation.h"

namespace podere::neural {

/// A run after a step. Valid during the call only.
struct AfterStep {
  std::size_t n_steps;      ///< in all, those before a checkpoint too
  std::size_t n_new_steps;  ///< of these, since the call before: 1, or some at once
  std::size_t steps_per_epoch;
  bool is_epoch_over;
  double loss;                     ///< weighted mean over the rows of the step, before it; of lbfgs after
  double learning_rate;            ///< of the step; 0 for lbfgs
  std::optional<Quality> quality;  ///< of the validation rows, after the last step of an epoch
  const History& history;          ///< of the epochs that are over
  const Options& options;
  const Layout& layout;
  std::span<const float> weights;  ///< [layout.size()]
  std::function<Checkpoint()> make_checkpoint;

  /// Whether one of the steps since the call before was the `every`-th, twice that, ...; never for 0.
  bool has_passed(std::size_t every) const { return every > 0 && n_steps / every != (n_steps - n_new_steps) / every; }
};

/// Called on every rank, in the same order, and not collective.
using Hook = std::function<void(const AfterStep&)>;

}  // namespace podere::neural
