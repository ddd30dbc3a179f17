#include "podere/neural/train.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/neural/labels.h"
#include "podere/neural/predict.h"
#include "podere/neural/rows.h"
#include "podere/neural/solver.h"
#include "podere/neural/streams.h"
#include "podere/table/features.h"
#include "podere/table/few_rows.h"

namespace podere::neural {
namespace {

/// How often in an epoch it is told how far the run is, and asked whether to stop.
constexpr std::size_t kReportsPerEpoch = 20;
/// Bounds of batch sizes that nobody chose.
constexpr std::uint64_t kLeastAutoBatch = 32;
constexpr std::uint64_t kMostAutoBatch = 4096;

void check_request(const table::RowSource& source, const table::Table* validation, const Options& options) {
  validate(options);
  if (validation != nullptr && options.validation_fraction > 0) {
    throw InputError("validation data and validation-fraction are both given, allowed is one of them");
  }
  if (options.early_stopping_epochs > 0 && validation == nullptr && options.validation_fraction == 0) {
    throw InputError("early-stopping needs validation data or a validation-fraction");
  }
  const table::Table& table = source.labels();
  if (table.n_rows() >= std::numeric_limits<std::uint32_t>::max()) {
    throw_input_error("training data: there are {} rows on an executor, allowed are fewer than 2^32", table.n_rows());
  }
  if (table.rows().begin % table::kBlockRows != 0 && table.n_rows() > 0) {
    throw_error("rows {} to {} do not begin at a row block", table.rows().begin, table.rows().end);
  }
}

void check_base(const Model& base, const Model& model) {
  if (base.schema.features != model.schema.features) throw InputError("the model to continue has other features");
  if (base.options.loss != model.options.loss || base.options.n_classes != model.options.n_classes) {
    throw InputError("the model to continue has another loss or other classes");
  }
  if (base.options.hidden != model.options.hidden || base.options.activation != model.options.activation) {
    throw InputError("the model to continue has other layers");
  }
}

void check_checkpoint(const Model& checkpoint, const Model& model) {
  if (checkpoint.options == model.options && checkpoint.schema == model.schema && checkpoint.scaling == model.scaling) {
    return;
  }
  throw InputError("the checkpoint is of another run: data, options or the model to continue have changed");
}

/// 1 for rows to train on, 0 for rows set aside.
std::vector<std::uint8_t> choose_training_rows(const table::Table& table, const Options& options) {
  std::vector<std::uint8_t> is_training(table.n_rows());
  for (std::size_t i = 0; i < table.n_rows(); ++i) is_training[i] = is_training_row(table.global({i}), options) ? 1 : 0;
  return is_training;
}

/// Rows that the loss is watched on.
struct ValidationRows {
  const FeatureRows* features;
  std::vector<std::uint32_t> picked;  // places in `features`
  std::vector<float> label;           // of these
  std::vector<float> weight;
};

ValidationRows pick_rows(const FeatureRows& features, const table::LabelledRows& rows,
                         std::span<const std::uint8_t> is_training) {
  ValidationRows validation{&features, {}, {}, {}};
  for (std::size_t i = 0; i < features.n_rows(); ++i) {
    if (!is_training.empty() && is_training[i] != 0) continue;
    validation.picked.push_back(static_cast<std::uint32_t>(i));
    validation.label.push_back(rows.label[i]);
    validation.weight.push_back(rows.weight[i]);
  }
  return validation;
}

struct Quality {
  double loss;
  std::optional<double> auc;  // of two classes
};

/// Collective.
Quality measure(const Model& model, std::span<const float> weights, const ValidationRows& rows,
                const comm::Communicator& comm, int n_threads) {
  const std::vector<float> predictions = predictions_of(
      model, outputs_of_rows(model.layout, model.options, weights, *rows.features, rows.picked, n_threads), n_threads);
  switch (model.options.loss) {
    case Loss::kBinaryCrossEntropy:
      return {evaluate::log_loss(comm, predictions, rows.label, rows.weight),
              evaluate::auc(comm, predictions, rows.label, rows.weight)};
    case Loss::kCrossEntropy:
      return {evaluate::multi_log_loss(comm, predictions, model.n_outputs(), rows.label, rows.weight), std::nullopt};
    case Loss::kSquaredError: {
      const double root = evaluate::root_mean_squared_error(comm, predictions, rows.label, rows.weight);
      return {root * root / 2, std::nullopt};
    }
  }
  throw Error("unknown loss");
}

/// The weights of the best epoch so far, for early stopping.
struct Best {
  double loss = std::numeric_limits<double>::infinity();
  std::size_t epoch = 0;
  std::vector<float> weights;
};

/// A training run from its first step to its last.
class Run {
 public:
  /// All outlive this.
  Run(Model& model, Solver& solver, const std::optional<ValidationRows>& validation, const comm::Communicator& comm,
      int n_threads, Progress& progress)
      : model_(model),
        solver_(solver),
        validation_(validation),
        comm_(comm),
        n_threads_(n_threads),
        progress_(progress) {}

  void resume(const Checkpoint& checkpoint) {
    const TrainState& state = checkpoint.state;
    const std::vector<double>& counters = numbers_of(state, "run", 5);
    model_.history = checkpoint.model.history;
    n_steps_ = static_cast<std::size_t>(counters[0]);
    epoch_loss_ = counters[1];
    epoch_weight_ = counters[2];
    best_.loss = counters[3];
    best_.epoch = static_cast<std::size_t>(counters[4]);
    if (keeps_best() && best_.epoch > 0) {
      const auto& weights = numbers_of(state, "best_weights", model_.weights.size());
      best_.weights.assign(weights.begin(), weights.end());
    }
    solver_.load(state);
  }

  void go(const std::function<void(const std::function<Checkpoint()>& make)>& offer) {
    report();
    const std::size_t n_epochs = static_cast<std::size_t>(model_.options.epochs);
    const std::size_t often = std::max<std::size_t>(1, solver_.n_steps() / kReportsPerEpoch);
    while (n_epochs_done() < n_epochs && !solver_.has_converged() && !has_lost_patience()) {
      const StepReport step = solver_.step();
      if (!step.is_finite) refuse_divergence();
      epoch_loss_ += step.loss;
      epoch_weight_ += step.weight;
      ++n_steps_;
      const bool is_epoch_over = n_steps_ % solver_.n_steps() == 0;
      if (is_epoch_over) end_epoch();
      if (offer) offer([&] { return checkpoint(); });
      if (!is_epoch_over && n_steps_ % often != 0) continue;
      report();
      if (is_to_stop()) break;
    }
    const std::span<const float> last = solver_.weights();
    model_.weights.assign(last.begin(), last.end());
    if (keeps_best() && best_.epoch > 0) {
      model_.weights = best_.weights;
      model_.history.train_loss.resize(best_.epoch);
      model_.history.validation_loss.resize(best_.epoch);
    }
  }

  std::size_t n_epochs_done() const { return n_steps_ / solver_.n_steps(); }
  /// Whether as many epochs as early stopping has patience for brought no gain.
  bool has_lost_patience() const {
    return keeps_best() &&
           n_epochs_done() - best_.epoch >= static_cast<std::size_t>(model_.options.early_stopping_epochs);
  }

 private:
  bool keeps_best() const { return model_.options.early_stopping_epochs > 0; }

  void end_epoch() {
    model_.history.train_loss.push_back(epoch_loss_ / epoch_weight_);
    epoch_loss_ = 0;
    epoch_weight_ = 0;
    if (!validation_) return;
    quality_ = measure(model_, solver_.weights(), *validation_, comm_, n_threads_);
    if (!std::isfinite(quality_->loss)) refuse_divergence();
    model_.history.validation_loss.push_back(quality_->loss);
    if (!keeps_best() || !(quality_->loss < best_.loss)) return;
    const std::span<const float> weights = solver_.weights();
    best_ = {quality_->loss, n_epochs_done(), {weights.begin(), weights.end()}};
  }

  const char* unit() const { return model_.options.optimiser == Optimiser::kLbfgs ? "iteration" : "step"; }

  void report() {
    const std::size_t n_all = static_cast<std::size_t>(model_.options.epochs) * solver_.n_steps();
    ProgressStep step{"train", n_steps_, n_all, {}, unit()};
    if (solver_.n_steps() > 1) step.metrics.emplace_back("epoch", n_epochs_done());
    if (!model_.history.train_loss.empty()) step.metrics.emplace_back("loss", model_.history.train_loss.back());
    if (quality_) {
      step.metrics.emplace_back("validation_loss", quality_->loss);
      if (quality_->auc) step.metrics.emplace_back("validation_auc", *quality_->auc);
    }
    progress_.report(step);
  }

  bool is_to_stop() {
    std::int32_t stop_requested = progress_.stop_requested() ? 1 : 0;
    comm_.broadcast(std::span(&stop_requested, 1));
    return stop_requested != 0;
  }

  [[noreturn]] void refuse_divergence() const {
    const Options& options = model_.options;
    throw_input_error("training diverged in step {} of epoch {}: the loss is not finite. {}",
                      n_steps_ % solver_.n_steps() + 1, n_epochs_done() + 1,
                      options.optimiser == Optimiser::kLbfgs
                          ? std::string("Are labels and features on a common scale?")
                          : fmt::format("Try a learning-rate below {}, or clip-norm", options.learning_rate));
  }

  Checkpoint checkpoint() const {
    Checkpoint made{model_, {}};
    const std::span<const float> weights = solver_.weights();
    made.model.weights.assign(weights.begin(), weights.end());
    solver_.save(made.state);
    made.state.numbers["run"] = {static_cast<double>(n_steps_), epoch_loss_, epoch_weight_, best_.loss,
                                 static_cast<double>(best_.epoch)};
    made.state.numbers["best_weights"].assign(best_.weights.begin(), best_.weights.end());
    return made;
  }

  Model& model_;
  Solver& solver_;
  const std::optional<ValidationRows>& validation_;
  const comm::Communicator& comm_;
  int n_threads_;
  Progress& progress_;
  std::size_t n_steps_ = 0;
  double epoch_loss_ = 0;    // of the steps of this epoch so far
  double epoch_weight_ = 0;  // the same
  std::optional<Quality> quality_;
  Best best_;
};

/// Takes the features of the training table over, and gives them back.
TrainingRows take_rows(const table::RowSource& source, const Model& model, const table::LabelledRows& labels,
                       std::span<const std::uint8_t> is_training, int n_threads) {
  const table::Table& table = source.labels();
  TrainingRows rows{to_feature_rows(table::feature_columns(model.schema, table), table.rows(), model.schema.features,
                                    model.scaling, model.options.impute, "training", n_threads),
                    labels.label,
                    labels.weight,
                    {},
                    {}};
  source.give_back_features(model.schema.features.size());
  rows.order.reserve(table.n_rows());
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (is_training[i] != 0) rows.order.push_back(static_cast<std::uint16_t>(i % table::kBlockRows));
    if (i % table::kBlockRows + 1 == table::kBlockRows || i + 1 == table.n_rows())
      rows.ends.push_back(rows.order.size());
  }
  return rows;
}

/// How many rows of each row block of the table are trained on. Collective.
std::vector<std::uint16_t> count_block_rows(TrainingRows& rows, const comm::Communicator& comm) {
  std::vector<std::int32_t> here;
  for (std::size_t block = 0; block < rows.n_blocks(); ++block) {
    here.push_back(static_cast<std::int32_t>(rows.of_block(block).size()));
  }
  const std::vector<std::int32_t> all = comm.all_gather_v(std::span<const std::int32_t>(here));
  return {all.begin(), all.end()};
}

/// A model of these options without weights, its classes counted.
Model shape_model(const table::RowSource& source, const Options& options, const comm::Communicator& comm) {
  Model model{source.schema(), options, {}, {}, {}, {}};
  if (options.loss == Loss::kCrossEntropy && options.n_classes == 0) {
    model.options.n_classes = table::count_classes(source.labels(), kMaxClasses, "training", comm);
  }
  check_shape(model.schema, model.options);
  const bool has_classes = options.loss == Loss::kCrossEntropy;
  model.layout = Layout(model.schema.features.size(), options.hidden,
                        has_classes ? static_cast<std::size_t>(model.options.n_classes) : 1);
  return model;
}

table::Scaling no_scaling(std::size_t n_features) {
  return {std::vector<double>(n_features, 0.0), std::vector<double>(n_features, 1.0)};
}

/// Sets where the weights start, and the scale of features. Collective.
void start(Model& model, const Model* base, const table::Table& table, const comm::Communicator& comm, int n_threads) {
  if (base != nullptr) {
    check_base(*base, model);
    model.scaling = base->scaling;
    model.weights = base->weights;
  } else {
    model.scaling = model.options.standardise ? table::measure_scaling(table, comm, n_threads)
                                              : no_scaling(model.schema.features.size());
    model.weights = initial_weights(model.layout, model.options.initialisation, model.options.seed);
  }
}

/// A hundredth of the rows, which leaves steps enough to learn in and rows enough to share, within bounds.
int choose_batch_size(std::uint64_t n_rows) {
  return static_cast<int>(std::clamp<std::uint64_t>(n_rows / 100, kLeastAutoBatch, kMostAutoBatch));
}

/// As train, with a shaped model, once it has checked what it is asked for and brought few rows to one form.
Model train_on(const table::RowSource& source, const table::Table* validation, Model model,
               const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report,
               const Continuation& continuation) {
  Stopwatch watch;
  progress.report({"prepare", 0, 1, {}});
  const table::Table& table = source.labels();
  const table::LabelRules rules = label_rules(model.options);
  const std::vector<std::uint8_t> is_training = choose_training_rows(table, model.options);
  const table::WeightedLabels labels = table::weigh_labels(table, is_training, 1, rules, "training", comm);
  start(model, continuation.base, table, comm, n_threads);

  TrainingRows rows;
  FeatureRows validation_features;
  comm.agree([&] {
    if (validation != nullptr) {
      validation_features =
          to_feature_rows(table::feature_columns(model.schema, *validation), validation->rows(), model.schema.features,
                          model.scaling, model.options.impute, "validation", n_threads);
    }
    rows = take_rows(source, model, labels.rows, is_training, n_threads);
  });
  std::optional<table::WeightedLabels> validation_labels;
  std::optional<ValidationRows> watched;
  if (validation != nullptr) {
    validation_labels = table::weigh_labels(*validation, {}, 0, rules, "validation", comm);
    watched = pick_rows(validation_features, validation_labels->rows, {});
  } else if (model.options.validation_fraction > 0) {
    validation_labels = table::weigh_labels(table, is_training, 0, rules, "validation", comm);
    watched = pick_rows(rows.features, validation_labels->rows, is_training);
  }
  std::vector<std::uint16_t> block_rows = count_block_rows(rows, comm);
  if (model.options.batch_size == 0) {
    model.options.batch_size =
        choose_batch_size(std::accumulate(block_rows.begin(), block_rows.end(), std::uint64_t{0}));
  }
  const std::unique_ptr<Solver> solver = make_solver(model.layout, model.options, rows, std::move(block_rows),
                                                     labels.rows.weight_sum, model.weights, comm, n_threads);
  Run run(model, *solver, watched, comm, n_threads, progress);
  if (continuation.checkpoint != nullptr) {
    check_checkpoint(continuation.checkpoint->model, model);
    run.resume(*continuation.checkpoint);
  }
  const double prepare_seconds = watch.restart();
  const comm::TrafficByKind traffic_before = comm.traffic();
  run.go(continuation.offer);
  if (report != nullptr) {
    *report = {.prepare_seconds = prepare_seconds,
               .train_seconds = watch.seconds(),
               .traffic = comm::traffic_since(traffic_before, comm.traffic()),
               .epochs_run = run.n_epochs_done(),
               .steps_per_epoch = solver->n_steps(),
               .stopped_early = run.has_lost_patience(),
               .has_converged = solver->has_converged()};
  }
  return model;
}

}  // namespace

bool is_training_row(table::GlobalRow row, const Options& options) {
  return uniform01(hash64(options.seed, kValidationStream, row.value)) >= options.validation_fraction;
}

Model train(const table::RowSource& source, const table::Table* validation, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report,
            const Continuation& continuation) {
  check_request(source, validation, options);
  Model model = shape_model(source, options, comm);
  // Rows are set aside by their numbers, of which others know.
  if (options.validation_fraction > 0 || source.labels().n_global_rows() > table::kBlockRows) {
    return train_on(source, validation, std::move(model), comm, n_threads, progress, report, continuation);
  }
  // What is wrong with a row is told with its own number, and in rows that do not count too.
  table::weigh_labels(source.labels(), {}, 0, label_rules(model.options), "training", comm);
  const table::Scaling as_they_are = no_scaling(model.schema.features.size());
  std::optional<table::Table> few = table::to_one_form(
      source,
      [&](const table::Table& window) {
        to_feature_rows(table::feature_columns(model.schema, window), window.rows(), model.schema.features, as_they_are,
                        options.impute, "training", n_threads);
      },
      comm);
  if (!few) return train_on(source, validation, std::move(model), comm, n_threads, progress, report, continuation);
  return train_on(table::HeldRows(std::move(*few)), validation, std::move(model), comm, n_threads, progress, report,
                  continuation);
}

}  // namespace podere::neural
