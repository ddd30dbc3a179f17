#include "podere/neural/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/neural/batch_cursor.h"
#include "podere/neural/descent.h"
#include "podere/neural/lbfgs.h"
#include "podere/neural/parameter_servers.h"

namespace podere::neural {
namespace {

/// The i-th of n numbers as the exponent of a BatchGradient.
int exponent_of(const TrainState& state, std::size_t n, std::size_t i) {
  const double exponent = numbers_of(state, "epoch", n)[i];
  if (!(std::fabs(exponent) < 1024)) throw_input_error("the checkpoint is damaged: an exponent is {}", exponent);
  return static_cast<int>(exponent);
}

/// A batch a step.
class DescentSolver final : public Solver {
 public:
  DescentSolver(const Layout& layout, const Options& options, TrainingRows& rows, Batches batches, double weight_sum,
                std::vector<float> weights, const comm::Communicator& comm, int n_threads)
      : layout_(layout),
        options_(options),
        mean_weight_(weight_sum / static_cast<double>(batches.n_rows())),
        batches_(rows, std::move(batches), options.seed, n_threads),
        batch_gradient_(layout, options, rows, comm, n_threads),
        descent_(layout, options, n_steps(), n_threads),
        weights_(std::move(weights)),
        gradient_(layout.size()) {}

  StepReport step(std::size_t /*most*/) override {
    const Batch batch = batches_.next();
    const double weight = mean_weight_ * static_cast<double>(batch.n_rows);
    const BatchResult result = batch_gradient_.compute(weights_, batch.tiles, batch.dropout_key, weight, gradient_);
    StepReport report{.loss = result.loss, .weight = weight};
    if (result.is_finite) {
      regularize(layout_, options_, weights_, gradient_);
      descent_.step(gradient_, weights_);
    }
    report.is_finite = result.is_finite && are_finite(weights_);
    return report;
  }

  std::size_t n_steps() const override { return batches_.batches().n_steps(); }
  bool has_converged() const override { return false; }
  double learning_rate() const override { return descent_.learning_rate(); }
  std::span<const float> weights() const override { return weights_; }

  void save(TrainState& state) const override {
    descent_.save(state);
    state.numbers["epoch"] = {static_cast<double>(batches_.epoch()), static_cast<double>(batches_.step()),
                              static_cast<double>(batch_gradient_.exponent())};
    save_weights(weights_, state);
  }

  void load(const TrainState& state) override {
    descent_.load(state);
    load_weights(state, weights_);
    batches_.go_to(counter_of(state, "epoch", 3, 0), counter_of(state, "epoch", 3, 1));
    batch_gradient_.set_exponent(exponent_of(state, 3, 2));
  }

 private:
  const Layout& layout_;
  const Options& options_;
  double mean_weight_;
  BatchCursor batches_;
  BatchGradient batch_gradient_;
  Descent descent_;
  std::vector<float> weights_;
  std::vector<double> gradient_;
};

/// All rows a step, and an epoch, of L-BFGS.
class LbfgsSolver final : public Solver {
 public:
  LbfgsSolver(const Layout& layout, const Options& options, TrainingRows& rows, Batches batches, double weight_sum,
              std::vector<float> weights, const comm::Communicator& comm, int n_threads)
      : layout_(layout),
        options_(options),
        batches_(std::move(batches)),
        weight_sum_(weight_sum),
        batch_gradient_(layout, options, rows, comm, n_threads),
        weights_(std::move(weights)) {
    // In the order of the table: neighbors of a tile are neighbors in memory.
    for (std::size_t block = 0; block < batches_.block_rows().size(); ++block) {
      const std::size_t n = batches_.block_rows()[block];
      for (std::size_t first = 0; first < n; first += batches_.tile_rows()) {
        tiles_.push_back({block, first, std::min(batches_.tile_rows(), n - first)});
      }
    }
  }

  StepReport step(std::size_t /*most*/) override {
    if (!lbfgs_) {
      lbfgs_ = std::make_unique<Lbfgs>(std::vector<double>(weights_.begin(), weights_.end()),
                                       static_cast<std::size_t>(options_.history), options_.tolerance, function());
    }
    if (!std::isfinite(lbfgs_->value())) return {.loss = lbfgs_->value(), .weight = 1, .is_finite = false};
    lbfgs_->step();
    take_weights();
    const double loss = lbfgs_->value() - penalty(lbfgs_->x());
    return {.loss = loss * weight_sum_, .weight = weight_sum_, .is_finite = true};
  }

  std::size_t n_steps() const override { return 1; }
  bool has_converged() const override { return lbfgs_ && lbfgs_->end() != LbfgsEnd::kNone; }
  double learning_rate() const override { return 0; }
  std::span<const float> weights() const override { return weights_; }

  void save(TrainState& state) const override {
    if (lbfgs_) lbfgs_->save(state);
    state.numbers["epoch"] = {static_cast<double>(batch_gradient_.exponent())};
  }

  void load(const TrainState& state) override {
    batch_gradient_.set_exponent(exponent_of(state, 1, 0));
    lbfgs_ = std::make_unique<Lbfgs>(state, weights_.size(), static_cast<std::size_t>(options_.history),
                                     options_.tolerance, function());
    take_weights();
  }

 private:
  double penalty(std::span<const double> x) const {
    double sum = 0;
    if (options_.l2 > 0) for_each_weight(layout_, [&](std::size_t i) { sum += x[i] * x[i]; });
    return options_.l2 / 2 * sum;
  }

  void take_weights() {
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = static_cast<float>(lbfgs_->x()[i]);
  }

  /// The mean loss with its penalty.
  SmoothFunction function() {
    return [this](std::span<const double> x, std::span<double> gradient) {
      std::vector<float> weights(x.begin(), x.end());
      const BatchResult result = batch_gradient_.compute(weights, tiles_, 0, weight_sum_, gradient);
      if (!result.is_finite) return std::numeric_limits<double>::infinity();
      if (options_.l2 > 0) for_each_weight(layout_, [&](std::size_t i) { gradient[i] += options_.l2 * x[i]; });
      return result.loss / weight_sum_ + penalty(x);
    };
  }

  const Layout& layout_;
  const Options& options_;
  Batches batches_;
  double weight_sum_;
  BatchGradient batch_gradient_;
  std::vector<float> weights_;
  std::vector<Tile> tiles_;
  std::unique_ptr<Lbfgs> lbfgs_;
};

}  // namespace

const ServersReport& Solver::servers_report() const {
  static const ServersReport none;
  return none;
}

std::unique_ptr<Solver> make_solver(const Layout& layout, const Options& options, TrainingRows& rows,
                                    std::vector<std::uint16_t> block_rows, double weight_sum,
                                    std::vector<float> weights, const comm::Communicator& comm, int n_threads) {
  if (options.optimizer == Optimizer::kLbfgs) {
    return std::make_unique<LbfgsSolver>(layout, options, rows, Batches(std::move(block_rows)), weight_sum,
                                         std::move(weights), comm, n_threads);
  }
  if (options.servers > 0) {
    return make_parameter_servers(layout, options, rows, std::move(block_rows), weight_sum, std::move(weights), comm,
                                  n_threads);
  }
  return std::make_unique<DescentSolver>(layout, options, rows,
                                         Batches(std::move(block_rows), static_cast<std::size_t>(options.batch_size)),
                                         weight_sum, std::move(weights), comm, n_threads);
}

}  // namespace podere::neural
