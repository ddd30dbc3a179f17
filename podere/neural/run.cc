#include "podere/neural/run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "podere/base/error.h"
#include "podere/neural/predict.h"

namespace podere::neural {
namespace {

/// How often in an epoch progress is reported, and asked whether to stop.
constexpr std::size_t kReportsPerEpoch = 20;
constexpr std::size_t kEndSampleRows = 4096;

}  // namespace

RunRows rows_of(const Checkpoint& checkpoint) {
  const auto counter = [&](std::size_t i) { return counter_of(checkpoint.state, "rows", 4, i); };
  return {{counter(0), counter(1)}, {counter(2), counter(3)}};
}

void Run::resume(const Checkpoint& checkpoint) {
  const TrainState& state = checkpoint.state;
  const std::vector<double>& counters = numbers_of(state, "run", 5);
  model_.history = checkpoint.model.history;
  n_steps_ = counter_of(state, "run", 5, 0);
  epoch_loss_ = counters[1];
  epoch_weight_ = counters[2];
  best_.loss = counters[3];
  best_.epoch = counter_of(state, "run", 5, 4);
  if (keeps_best() && best_.epoch > 0) {
    const auto& weights = numbers_of(state, "best_weights", model_.weights.size());
    best_.weights.assign(weights.begin(), weights.end());
  }
  solver_.load(state);
}

void Run::go(std::span<const Hook> hooks, std::size_t max_steps) {
  report();
  const std::size_t often = std::max<std::size_t>(1, solver_.n_steps() / kReportsPerEpoch);
  while (!is_over(max_steps)) {
    const std::size_t n_before = n_steps_;
    take_step(hooks, max_steps > 0 ? max_steps - n_steps_ : std::numeric_limits<std::size_t>::max());
    if (n_before / often == n_steps_ / often && n_before / solver_.n_steps() == n_epochs_done()) continue;
    report();
    if (is_to_stop()) break;
  }
  take_weights();
}

bool Run::is_over(std::size_t max_steps) const {
  return n_epochs_done() >= static_cast<std::size_t>(model_.options.epochs) || solver_.has_converged() ||
         has_lost_patience() || (max_steps > 0 && n_steps_ >= max_steps);
}

void Run::take_step(std::span<const Hook> hooks, std::size_t most) {
  const double learning_rate = solver_.learning_rate();
  const StepReport step = solver_.step(most);
  if (!step.is_finite) refuse_divergence(n_steps_);
  epoch_loss_ += step.loss;
  epoch_weight_ += step.weight;
  const std::size_t n_epochs_before = n_epochs_done();
  n_steps_ += step.n_steps;
  const bool is_epoch_over = n_epochs_done() > n_epochs_before;
  if (is_epoch_over) end_epoch();
  const AfterStep after{.n_steps = n_steps_,
                        .n_new_steps = step.n_steps,
                        .steps_per_epoch = solver_.n_steps(),
                        .is_epoch_over = is_epoch_over,
                        .loss = step.loss / step.weight,
                        .learning_rate = learning_rate,
                        .quality = is_epoch_over ? quality_ : std::nullopt,
                        .history = model_.history,
                        .options = model_.options,
                        .layout = model_.layout,
                        .weights = solver_.weights(),
                        .make_checkpoint = [this] { return checkpoint(); }};
  for (const Hook& hook : hooks) hook(after);
}

void Run::end_epoch() {
  model_.history.train_loss.push_back(epoch_loss_ / epoch_weight_);
  epoch_loss_ = 0;
  epoch_weight_ = 0;
  if (!validation_) return;
  quality_ = measure(model_, solver_.weights(), *validation_, comm_, n_threads_);
  if (!std::isfinite(quality_->loss)) refuse_divergence(n_steps_);
  model_.history.validation_loss.push_back(quality_->loss);
  if (!keeps_best() || !(quality_->loss < best_.loss)) return;
  const std::span<const float> weights = solver_.weights();
  best_ = {quality_->loss, model_.history.train_loss.size(), {weights.begin(), weights.end()}};
}

void Run::take_weights() {
  const std::span<const float> last = solver_.weights();
  model_.weights.assign(last.begin(), last.end());
  if (!keeps_best() || best_.epoch == 0) return;
  model_.weights = best_.weights;
  model_.history.keep(best_.epoch);
}

void Run::report() {
  const bool is_lbfgs = model_.options.optimizer == Optimizer::kLbfgs;
  const std::size_t n_all = static_cast<std::size_t>(model_.options.epochs) * solver_.n_steps();
  ProgressStep step{"train", n_steps_, n_all, {}, is_lbfgs ? "iteration" : "step"};
  if (solver_.n_steps() > 1) step.metrics.emplace_back("epoch", n_epochs_done());
  if (!model_.history.train_loss.empty()) step.metrics.emplace_back("loss", model_.history.train_loss.back());
  if (quality_) {
    step.metrics.emplace_back("validation_loss", quality_->loss);
    if (quality_->accuracy) step.metrics.emplace_back("validation_accuracy", *quality_->accuracy);
    if (quality_->auc) step.metrics.emplace_back("validation_auc", *quality_->auc);
  }
  progress_.report(step);
}

bool Run::is_to_stop() {
  std::int32_t stop_requested = progress_.stop_requested() ? 1 : 0;
  comm_.broadcast(std::span(&stop_requested, 1));
  return stop_requested != 0;
}

void Run::check_end(const TrainingRows& rows) const {
  std::vector<std::uint32_t> sample;
  for (std::size_t i = 0; i < rows.features.n_rows() && sample.size() < kEndSampleRows; ++i) {
    if (rows.labels.weight_of(i) != 0) sample.push_back(static_cast<std::uint32_t>(i));
  }
  const std::vector<float> outputs =
      outputs_of_rows(model_.layout, model_.options, model_.weights, rows.features, sample, n_threads_);
  const bool are_finite = std::ranges::all_of(outputs, [](float output) { return std::isfinite(output); });
  if (comm_.all_reduce(are_finite ? 1 : 0, comm::Reduction::kMin) == 0) {
    refuse_divergence(std::max<std::size_t>(n_steps_, 1) - 1);
  }
}

void Run::refuse_divergence(std::size_t n_before) const {
  const Options& options = model_.options;
  if (options.optimizer == Optimizer::kLbfgs) {
    throw_input_error(
        "training diverged in iteration {}: the loss is not finite. Are labels and features on a common "
        "scale{}?",
        n_before + 1, options.l2 > 1 ? ", and is l2 that large" : "");
  }
  throw_input_error(
      "training diverged in step {} of epoch {}: the loss is not finite. Try a learning-rate below {}, or "
      "clip-norm{}{}",
      n_before % solver_.n_steps() + 1, n_before / solver_.n_steps() + 1, options.learning_rate,
      options.loss == Loss::kSquaredError && !options.standardize_target ? ", or standardize-target" : "",
      std::max(options.l2, options.weight_decay) > 1 ? ", or a smaller penalty" : "");
}

Checkpoint Run::checkpoint() const {
  Checkpoint made{model_, {}};
  const std::span<const float> weights = solver_.weights();
  made.model.weights.assign(weights.begin(), weights.end());
  solver_.save(made.state);
  made.state.numbers["run"] = {static_cast<double>(n_steps_), epoch_loss_, epoch_weight_, best_.loss,
                               static_cast<double>(best_.epoch)};
  made.state.numbers["rows"] = {static_cast<double>(rows_.training.n_rows), static_cast<double>(rows_.training.hash),
                                static_cast<double>(rows_.validation.n_rows),
                                static_cast<double>(rows_.validation.hash)};
  made.state.numbers["best_weights"].assign(best_.weights.begin(), best_.weights.end());
  return made;
}

}  // namespace podere::neural
