#include "podere/neural/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/neural/descent.h"
#include "podere/neural/lbfgs.h"
#include "podere/neural/streams.h"

namespace podere::neural {
namespace {

/// A batch a step, in another order each epoch.
class DescentSolver final : public Solver {
 public:
  DescentSolver(const Layout& layout, const Options& options, TrainingRows& rows, Batches batches, double weight_sum,
                std::vector<float> weights, const comm::Communicator& comm, int n_threads)
      : options_(options),
        rows_(rows),
        batches_(std::move(batches)),
        mean_weight_(weight_sum / static_cast<double>(batches_.n_rows())),
        n_threads_(n_threads),
        natural_order_(rows.order),
        batch_gradient_(layout, options, rows, comm, n_threads),
        descent_(layout, options, batches_.n_steps()),
        weights_(std::move(weights)),
        gradient_(layout.size()),
        order_(batches_, options.seed, 0) {}

  StepReport step() override {
    if (next_step_ == 0) begin_epoch();
    std::vector<Tile> tiles;
    std::size_t n_rows = 0;
    for (; tiles.size() < batches_.tiles_per_batch() && n_tiles_left_ > 0; --n_tiles_left_) {
      tiles.push_back(order_.next());
      n_rows += tiles.back().n;
    }
    const std::uint64_t dropout_key = hash64(hash64(options_.seed, kDropoutStream, epoch_), 0, next_step_);
    const BatchResult result = batch_gradient_.compute(weights_, tiles, dropout_key, gradient_);
    const double batch_weight = mean_weight_ * static_cast<double>(n_rows);
    if (!result.is_finite) return {.loss = result.loss, .weight = batch_weight, .is_finite = false};
    for (double& g : gradient_) g /= batch_weight;
    descent_.step(gradient_, weights_);
    if (!std::ranges::all_of(weights_, [](float w) { return std::isfinite(w); })) {
      return {.loss = result.loss, .weight = batch_weight, .is_finite = false};
    }
    if (++next_step_ == batches_.n_steps()) {
      next_step_ = 0;
      ++epoch_;
    }
    return {.loss = result.loss, .weight = batch_weight, .is_finite = true};
  }

  std::size_t n_steps() const override { return batches_.n_steps(); }
  bool has_converged() const override { return false; }
  double learning_rate() const override { return descent_.learning_rate(); }
  std::span<const float> weights() const override { return weights_; }

  void save(TrainState& state) const override {
    descent_.save(state);
    state.numbers["epoch"] = {static_cast<double>(epoch_), static_cast<double>(next_step_),
                              static_cast<double>(batch_gradient_.exponent())};
    state.numbers["weights"].assign(weights_.begin(), weights_.end());
  }

  void load(const TrainState& state) override {
    descent_.load(state);
    const std::vector<double>& counters = numbers_of(state, "epoch", 3);
    const std::vector<double>& weights = numbers_of(state, "weights", weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = static_cast<float>(weights[i]);
    epoch_ = static_cast<std::uint64_t>(counters[0]);
    next_step_ = static_cast<std::size_t>(counters[1]);
    batch_gradient_.set_exponent(static_cast<int>(counters[2]));
    if (next_step_ == 0) return;
    begin_epoch();
    const std::size_t n_done = next_step_ * batches_.tiles_per_batch();
    order_.skip(n_done);
    n_tiles_left_ -= n_done;
  }

 private:
  void begin_epoch() {
    order_ = TileOrder(batches_, options_.seed, epoch_);
    n_tiles_left_ = batches_.n_tiles();
    rows_.order = natural_order_;
    parallel_for(n_threads_, rows_.n_blocks(), [&](std::size_t block, int) {
      shuffle_rows(options_.seed, epoch_, rows_.first_block() + block, rows_.of_block(block));
    });
  }

  const Options& options_;
  TrainingRows& rows_;
  Batches batches_;
  double mean_weight_;
  int n_threads_;
  std::vector<std::uint16_t> natural_order_;
  BatchGradient batch_gradient_;
  Descent descent_;
  std::vector<float> weights_;
  std::vector<double> gradient_;
  TileOrder order_;
  std::uint64_t epoch_ = 0;
  std::size_t next_step_ = 0;  // of the epoch
  std::size_t n_tiles_left_ = 0;
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
    // In the order of the table: neighbours of a tile are neighbours in memory.
    for (std::size_t block = 0; block < batches_.block_rows().size(); ++block) {
      const std::size_t n = batches_.block_rows()[block];
      for (std::size_t first = 0; first < n; first += batches_.tile_rows()) {
        tiles_.push_back({block, first, std::min(batches_.tile_rows(), n - first)});
      }
    }
  }

  StepReport step() override {
    if (!lbfgs_) {
      lbfgs_ = std::make_unique<Lbfgs>(std::vector<double>(weights_.begin(), weights_.end()),
                                       static_cast<std::size_t>(options_.history), options_.tolerance, function());
    }
    if (!std::isfinite(lbfgs_->value())) return {.loss = lbfgs_->value(), .weight = 1, .is_finite = false};
    const double loss = lbfgs_->value() - penalty(lbfgs_->x());
    lbfgs_->step();
    take_weights();
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
    batch_gradient_.set_exponent(static_cast<int>(numbers_of(state, "epoch", 1)[0]));
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
      const BatchResult result = batch_gradient_.compute(weights, tiles_, 0, gradient);
      if (!result.is_finite) return std::numeric_limits<double>::infinity();
      for (double& g : gradient) g /= weight_sum_;
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

std::unique_ptr<Solver> make_solver(const Layout& layout, const Options& options, TrainingRows& rows,
                                    std::vector<std::uint16_t> block_rows, double weight_sum,
                                    std::vector<float> weights, const comm::Communicator& comm, int n_threads) {
  if (options.optimiser == Optimiser::kLbfgs) {
    return std::make_unique<LbfgsSolver>(layout, options, rows, Batches(std::move(block_rows)), weight_sum,
                                         std::move(weights), comm, n_threads);
  }
  return std::make_unique<DescentSolver>(layout, options, rows,
                                         Batches(std::move(block_rows), static_cast<std::size_t>(options.batch_size)),
                                         weight_sum, std::move(weights), comm, n_threads);
}

}  // namespace podere::neural
