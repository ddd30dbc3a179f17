#include "podere/neural/descent.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/neural/descent_kernel.h"

namespace podere::neural {
namespace {

/// cos(pi x) for x in [0, 1], by its Taylor series around the nearer of 0 and 1/2 and 1: that of the C library differs
/// from machine to machine.
double cos_pi(double x) {
  if (x > 0.5) return -cos_pi(1 - x);
  const double y = 3.14159265358979323846 * x;  // at most pi / 2
  double term = 1;
  double sum = 1;
  for (int n = 1; n <= 14; ++n) {
    term *= -y * y / ((2 * n - 1) * (2 * n));
    sum += term;
  }
  return sum;
}

/// Shortens the gradient to the norm of options.clip_norm.
void clip(std::span<double> gradient, double most) {
  double sum = 0;
  for (const double g : gradient) sum += g * g;
  const double norm = std::sqrt(sum);
  if (!(norm > most)) return;
  for (double& g : gradient) g *= most / norm;
}

}  // namespace

Descent::Descent(const Layout& layout, const Options& options, std::size_t batches_per_epoch, int n_threads)
    : layout_(layout),
      options_(options),
      batches_per_epoch_(std::max<std::size_t>(batches_per_epoch, 1)),
      n_threads_(n_threads),
      first_(layout.size(), 0.0F),
      second_(options.optimizer == Optimizer::kSgd ? 0 : layout.size(), 0.0F) {}

double Descent::learning_rate() const {
  switch (options_.schedule) {
    case Schedule::kConstant:
      return options_.learning_rate;
    case Schedule::kExponential:
      return options_.learning_rate * decay_power_;
    case Schedule::kCosine: {
      const double all = static_cast<double>(batches_per_epoch_) * options_.epochs;
      return options_.learning_rate * (1 + cos_pi(std::min(static_cast<double>(n_batches_) / all, 1.0))) / 2;
    }
  }
  throw Error("unknown schedule");
}

void regularize(const Layout& layout, const Options& options, std::span<const float> weights,
                std::span<double> gradient) {
  if (options.l2 > 0) for_each_weight(layout, [&](std::size_t i) { gradient[i] += options.l2 * weights[i]; });
  if (options.clip_norm > 0) clip(gradient, options.clip_norm);
}

void Descent::step(std::span<const double> gradient, std::span<float> weights, Shard shard, std::size_t n_batches) {
  const double rate = learning_rate();
  const bool is_adam = options_.optimizer != Optimizer::kSgd;
  const double kept = options_.optimizer == Optimizer::kAdamW ? 1 - rate * options_.weight_decay : 1;
  if (is_adam) {
    beta1_power_ *= options_.beta1;
    beta2_power_ *= options_.beta2;
  }
  const AdamNumbers adam{rate, options_.beta1, options_.beta2, options_.epsilon, 1 - beta1_power_, 1 - beta2_power_};
  parallel_for_slices(n_threads_, shard.n, kGrainWeights, [&](std::size_t begin, std::size_t end, int) {
    const std::size_t first = shard.first + begin;
    const DescentArrays arrays{gradient.data() + begin, weights.data() + first, first_.data() + first,
                               is_adam ? second_.data() + first : nullptr, end - begin};
    if (!is_adam) return step_sgd(arrays, rate, options_.momentum);
    if (kept != 1) {
      for_each_weight(layout_, {first, end - begin},
                      [&](std::size_t i) { weights[i] = static_cast<float>(weights[i] * kept); });
    }
    step_adam(arrays, adam);
  });
  n_batches_ += n_batches;
  n_of_epoch_ += n_batches;
  if (n_of_epoch_ < batches_per_epoch_) return;
  n_of_epoch_ -= batches_per_epoch_;
  decay_power_ *= options_.learning_rate_decay;
}

std::array<double, 5> Descent::counters() const {
  return {static_cast<double>(n_batches_), static_cast<double>(n_of_epoch_), beta1_power_, beta2_power_, decay_power_};
}

void Descent::set_counters(std::span<const double, 5> counters) {
  n_batches_ = static_cast<std::size_t>(counters[0]);
  n_of_epoch_ = static_cast<std::size_t>(counters[1]);
  beta1_power_ = counters[2];
  beta2_power_ = counters[3];
  decay_power_ = counters[4];
}

void Descent::save(TrainState& state) const {
  const std::array<double, 5> numbers = counters();
  state.numbers["descent"].assign(numbers.begin(), numbers.end());
  state.numbers["descent_first"].assign(first_.begin(), first_.end());
  state.numbers["descent_second"].assign(second_.begin(), second_.end());
}

void Descent::load(const TrainState& state) {
  for (const std::size_t i : {0, 1}) counter_of(state, "descent", 5, i);
  set_counters(std::span(numbers_of(state, "descent", 5)).first<5>());
  const auto to_float = [](double x) { return static_cast<float>(x); };
  std::ranges::transform(numbers_of(state, "descent_first", first_.size()), first_.begin(), to_float);
  std::ranges::transform(numbers_of(state, "descent_second", second_.size()), second_.begin(), to_float);
}

}  // namespace podere::neural
