// Stochastic gradient descent: with momentum, Adam and AdamW, by a schedule.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "podere/neural/network.h"
#include "podere/neural/options.h"
#include "podere/neural/state.h"

namespace podere::neural {

/// Some of the weights: [first, first + n) of [layout.size()].
struct Shard {
  std::size_t first = 0;
  std::size_t n = 0;
  template <typename T>
  std::span<T> of(std::span<T> all) const {
    return all.subspan(first, n);
  }
};

/// Adds the penalty of l2 to the `gradient` of the loss at `weights`, and shortens the sum to clip_norm. Both
/// [layout.size()]. The same bits everywhere.
void regularize(const Layout& layout, const Options& options, std::span<const float> weights,
                std::span<double> gradient);

/// The steps of options.optimizer, which is not lbfgs.
class Descent {
 public:
  /// All outlive this. `batches_per_epoch` is for schedules.
  Descent(const Layout& layout, const Options& options, std::size_t batches_per_epoch, int n_threads);

  /// Takes a step from `weights` [layout.size()] against a `gradient` [shard.n], of the weights of `shard` alone, which
  /// is the mean of those of `n_batches` batches. Local; the same bits everywhere.
  void step(std::span<const double> gradient, std::span<float> weights, Shard shard, std::size_t n_batches = 1);
  void step(std::span<const double> gradient, std::span<float> weights) {
    step(gradient, weights, {0, weights.size()});
  }
  /// Batches that were used for steps.
  std::size_t n_batches() const { return n_batches_; }

  /// Of the step to come.
  double learning_rate() const;

  /// What steps change beside weights: arrays, each [layout.size()] or empty, and counters. Those who take steps of
  /// different shards exchange them.
  std::array<std::span<float>, 2> moments() { return {first_, second_}; }
  std::array<double, 5> counters() const;
  void set_counters(std::span<const double, 5> counters);

  void save(TrainState& state) const;
  /// Inverse of save. Throws InputError if `state` is not of such a run.
  void load(const TrainState& state);

 private:
  const Layout& layout_;
  const Options& options_;
  std::size_t batches_per_epoch_;
  int n_threads_;
  std::size_t n_batches_ = 0;
  std::size_t n_of_epoch_ = 0;  // batches since the last epoch ended
  double beta1_power_ = 1;      // beta1^steps, multiplied step by step: pow differs from machine to machine
  double beta2_power_ = 1;
  double decay_power_ = 1;     // learning_rate_decay^(epochs done)
  std::vector<float> first_;   // see descent_kernel.h
  std::vector<float> second_;  // adam, adamw only
};

/// Calls visit(weight index) for every weight of a shard that is no bias.
template <typename Visit>
void for_each_weight(const Layout& layout, Shard shard, const Visit& visit) {
  for (const Layer& layer : layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      const std::size_t row = layer.offset + j * layer.stride();
      const std::size_t end = std::min(row + layer.n_inputs, shard.first + shard.n);
      for (std::size_t i = std::max(row, shard.first); i < end; ++i) visit(i);
    }
  }
}
/// The same for all.
template <typename Visit>
void for_each_weight(const Layout& layout, const Visit& visit) {
  for_each_weight(layout, {0, layout.size()}, visit);
}

}  // namespace podere::neural
