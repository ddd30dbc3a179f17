// Stochastic gradient descent: with momentum, Adam and AdamW, by a schedule.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "podere/neural/network.h"
#include "podere/neural/options.h"
#include "podere/neural/state.h"

namespace podere::neural {

/// The steps of options.optimiser, which is not lbfgs.
class Descent {
 public:
  /// All outlive this. `steps_per_epoch` is for schedules.
  Descent(const Layout& layout, const Options& options, std::size_t steps_per_epoch);

  /// Takes a step from `weights` [layout.size()] against `gradient` [layout.size()] of the loss, to which the penalty
  /// of l2 is added and which is clipped here. Local; the same bits everywhere.
  void step(std::span<double> gradient, std::span<float> weights);

  /// Of the step to come.
  double learning_rate() const;

  void save(TrainState& state) const;
  /// Inverse of save. Throws InputError if `state` is not of such a run.
  void load(const TrainState& state);

 private:
  const Layout& layout_;
  const Options& options_;
  std::size_t steps_per_epoch_;
  std::size_t n_steps_ = 0;  // taken
  double beta1_power_ = 1;   // beta1^n_steps_, multiplied step by step: pow differs from machine to machine
  double beta2_power_ = 1;
  double decay_power_ = 1;     // learning_rate_decay^(epochs done)
  std::vector<float> first_;   // see descent_kernel.h
  std::vector<float> second_;  // adam, adamw only
};

/// Calls visit(weight index) for every weight that is no bias.
template <typename Visit>
void for_each_weight(const Layout& layout, const Visit& visit) {
  for (const Layer& layer : layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      for (std::size_t i = 0; i < layer.n_inputs; ++i) visit(layer.offset + j * layer.stride() + i);
    }
  }
}

}  // namespace podere::neural
