#include "podere/neural/train.h"

#include <fmt/format.h>

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
#include "podere/neural/labels.h"
#include "podere/neural/parameter_servers.h"
#include "podere/neural/rows.h"
#include "podere/neural/run.h"
#include "podere/neural/solver.h"
#include "podere/neural/streams.h"
#include "podere/neural/validation.h"
#include "podere/table/features.h"
#include "podere/table/few_rows.h"
#include "podere/table/keep_rows.h"
#include "podere/table/same_run.h"

namespace podere::neural {
namespace {

/// Bounds of batch sizes that are not chosen.
constexpr std::uint64_t kLeastAutoBatch = 32;
constexpr std::uint64_t kMostAutoBatch = 4096;
/// Sizes of numbers that are learned without ado.
constexpr double kLeastLabels = 1e-3;
constexpr double kMostLabels = 1e3;

void check_request(const table::RowSource& source, const table::Table* validation, const Options& options,
                   bool sets_aside) {
  validate(options);
  if (validation != nullptr && sets_aside) {
    throw InputError("validation data and validation-fraction are both given, allowed is one of them");
  }
  if (options.early_stopping_epochs > 0 && validation == nullptr && !sets_aside) {
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
  const table::Schema was{.features = base.schema.features, .categories = base.schema.categories};
  const table::Schema is{.features = model.schema.features, .categories = model.schema.categories};
  if (const std::string difference = table::first_difference(was, is); !difference.empty()) {
    throw_input_error("the model to continue was trained on other features: {}", difference);
  }
  table::check_same_pictures(base.schema, model.schema);
  // All else may be chosen anew.
  Options options = model.options;
  options.loss = base.options.loss;
  options.n_classes = base.options.n_classes;
  options.hidden = base.options.hidden;
  options.activation = base.options.activation;
  options.one_hot = base.options.one_hot;
  const std::string difference = first_difference(options, model.options);
  if (!difference.empty()) throw_input_error("the model to continue is of another kind: {}", difference);
}

/// How the data, or else the options, of the run that left the checkpoint were others.
std::string other_run(const Checkpoint& left, const Model& model, const RunRows& rows) {
  const Model& checkpoint = left.model;
  if (std::string difference = table::first_difference(checkpoint.schema, model.schema); !difference.empty())
    return difference;
  const RunRows rows_before = rows_of(left);
  if (std::string difference = table::first_difference(rows_before.training, rows.training); !difference.empty())
    return difference;
  // Before options, some of which follow from the rows.
  const bool chose_scale = checkpoint.options.standardize != model.options.standardize;
  const bool chose_target = checkpoint.options.standardize_target != model.options.standardize_target;
  if ((!chose_scale && checkpoint.scaling != model.scaling) || (!chose_target && checkpoint.target != model.target)) {
    return "the rows, or the model to continue, are others";
  }
  if (std::string difference = first_difference(checkpoint.options, model.options); !difference.empty())
    return difference;
  return rows_before.validation == rows.validation ? "" : "the validation data are others";
}

/// 1 for rows to train on, 0 for rows set aside.
std::vector<std::uint8_t> choose_training_rows(const table::Table& table, const Options& options,
                                               const RunControl& control) {
  if (control.is_training) return {control.is_training->begin(), control.is_training->end()};
  std::vector<std::uint8_t> is_training(table.n_rows());
  for (std::size_t i = 0; i < table.n_rows(); ++i) is_training[i] = is_training_row(table.global({i}), options) ? 1 : 0;
  return is_training;
}

/// Copies the features of the training table, and releases them there.
TrainingRows take_rows(const table::RowSource& source, const Model& model, const table::LabeledRows& labels,
                       std::span<const std::uint8_t> is_training, int n_threads) {
  const table::Table& table = source.labels();
  TrainingRows rows{to_feature_rows(table::feature_columns(model.schema, table), table.rows(), model.schema,
                                    model.options, model.scaling, "training", n_threads),
                    labels,
                    {},
                    {}};
  source.release_features(model.schema.features.size());
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

/// A model of these options without weights, its classes those of the model to continue or else counted.
Model shape_model(const table::RowSource& source, const Options& options, const Model* base,
                  const comm::Communicator& comm) {
  Model model{source.schema(), options, {}, {}, {}, {}, {}};
  if (options.loss == Loss::kCrossEntropy && options.n_classes == 0) {
    const bool continues_classes = base != nullptr && base->options.loss == Loss::kCrossEntropy;
    model.options.n_classes = continues_classes ? base->options.n_classes
                                                : table::count_classes(source.labels(), kMaxClasses, "training", comm);
  }
  check_shape(model.schema, model.options);
  model.layout = layout_of(model.schema, model.options);
  return model;
}

table::Scaling no_scaling(std::size_t n_features) {
  return {std::vector<double>(n_features, 0.0), std::vector<double>(n_features, 1.0)};
}

/// Labels as `target` has them learned.
std::vector<float> scaled(std::span<const float> label, const TargetScaling& target) {
  std::vector<float> to(label.size());
  std::ranges::transform(label, to.begin(),
                         [&](float y) { return static_cast<float>((y - target.mean) / target.scale); });
  return to;
}

/// Has the numbers of rows learned on the scale of the model: `kept` are the labels from then on.
void scale_labels(const Model& model, table::LabeledRows& rows, std::vector<float>& kept) {
  if (model.target == TargetScaling()) return;
  kept = scaled(rows.label, model.target);
  rows.label = kept;
}

/// Of the labels of rows that count. Collective.
TargetScaling measure_target(const table::LabeledRows& rows, const comm::Communicator& comm) {
  std::vector<float> counted;
  for (std::size_t i = 0; i < rows.label.size(); ++i) {
    if (rows.weight_of(i) != 0) counted.push_back(rows.label[i]);
  }
  const std::span<const float> column(counted);
  const table::Scaling scaling = table::measure_scaling(std::span(&column, 1), comm, 1);
  return {scaling.mean[0], scaling.scale[0]};
}

/// Sets where the weights start, and the scales of features and of numbers to learn. Collective.
void start(Model& model, const Model* base, const table::Table& table, const table::LabeledRows& rows,
           const comm::Communicator& comm, int n_threads) {
  if (base != nullptr) {
    check_base(*base, model);
    model.scaling = base->scaling;
    model.target = base->target;
    model.weights = base->weights;
  } else {
    if (model.options.loss == Loss::kSquaredError && model.options.standardize_target) {
      model.target = measure_target(rows, comm);
    }
    model.scaling = model.options.standardize ? table::measure_scaling(table, comm, n_threads)
                                              : no_scaling(model.schema.features.size());
    model.weights = initial_weights(model.layout, model.options.initialization, model.options.seed);
  }
}

/// Steps and sigmoids are of about 1, and so should numbers be that are learned. Collective.
void warn_of_scale(const table::LabeledRows& rows, const comm::Communicator& comm, Progress& progress) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.label.size(); ++i) {
    const double label = rows.label[i];
    sum += label * label * (rows.weight.empty() ? 1.0 : rows.weight[i]);
  }
  const double size = std::sqrt(std::abs(comm.all_reduce(sum, comm::Reduction::kSum)) / rows.weight_sum);
  if (!comm.is_root() || size == 0 || (size >= kLeastLabels && size <= kMostLabels)) return;
  progress.warn(
      fmt::format("the labels are of size {:.2g} as they are learned, and about 1 is learned best: a new network with "
                  "standardize-target scales them",
                  size));
}

/// A hundredth of the rows, which leaves steps enough to learn in and rows enough to share, within bounds.
int choose_batch_size(std::uint64_t n_rows) {
  return static_cast<int>(std::clamp<std::uint64_t>(n_rows / 100, kLeastAutoBatch, kMostAutoBatch));
}

/// As train, with a shaped model, once it has checked what it is asked for and canonicalized few rows.
Model train_on(const table::RowSource& source, const table::Table* validation, Model model,
               const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report,
               const RunControl& control) {
  Stopwatch watch;
  progress.report({"prepare", 0, 1, {}});
  const table::Table& table = source.labels();
  const table::LabelRules rules = label_rules(model.options);
  const std::vector<std::uint8_t> is_training = choose_training_rows(table, model.options, control);
  table::WeightedLabels labels = table::weigh_labels(table, is_training, 1, rules, "training", comm);
  start(model, control.base, table, labels.rows, comm, n_threads);
  std::vector<float> learned;
  scale_labels(model, labels.rows, learned);
  const bool has_own_scale = control.base == nullptr && model.options.standardize_target;
  if (model.options.loss == Loss::kSquaredError && !has_own_scale) warn_of_scale(labels.rows, comm, progress);
  RunRows run_rows{.training = table::fingerprint_rows(table, comm)};

  TrainingRows rows;
  FeatureRows validation_features;
  comm.agree([&] {
    if (validation != nullptr) {
      validation_features = to_feature_rows(table::feature_columns(model.schema, *validation), validation->rows(),
                                            model.schema, model.options, model.scaling, "validation", n_threads);
    }
    rows = take_rows(source, model, labels.rows, is_training, n_threads);
  });
  std::optional<table::WeightedLabels> validation_labels;
  std::optional<ValidationRows> watched;
  std::vector<float> watched_labels;
  if (validation != nullptr) {
    validation_labels = table::weigh_labels(*validation, {}, 0, rules, "validation", comm);
    if (model.options.early_stopping_epochs > 0) run_rows.validation = table::fingerprint_rows(*validation, comm);
    scale_labels(model, validation_labels->rows, watched_labels);
    watched = pick_rows(validation_features, validation_labels->rows, {});
  } else if (model.options.validation_fraction > 0 ||
             (control.is_training && model.options.early_stopping_epochs > 0)) {
    validation_labels = table::weigh_labels(table, is_training, 0, rules, "validation", comm);
    scale_labels(model, validation_labels->rows, watched_labels);
    watched = pick_rows(rows.features, validation_labels->rows, is_training);
  }
  std::vector<std::uint16_t> block_rows = count_block_rows(rows, comm);
  if (model.options.batch_size == 0) {
    model.options.batch_size =
        choose_batch_size(std::accumulate(block_rows.begin(), block_rows.end(), std::uint64_t{0}));
  }
  const std::unique_ptr<Solver> solver = make_solver(model.layout, model.options, rows, std::move(block_rows),
                                                     labels.rows.weight_sum, model.weights, comm, n_threads);
  Run run(model, *solver, run_rows, watched, comm, n_threads, progress);
  if (control.solver != nullptr) solver->load(*control.solver);
  if (control.checkpoint != nullptr) {
    table::check_same_run(other_run(*control.checkpoint, model, run_rows));
    run.resume(*control.checkpoint);
  }
  const double prepare_seconds = watch.restart();
  const comm::TrafficByKind traffic_before = comm.traffic();
  run.go(control.hooks, control.pause_after > 0 ? control.pause_after * solver->n_steps() : control.max_steps);
  if (report != nullptr) {
    *report = {.prepare_seconds = prepare_seconds,
               .train_seconds = watch.seconds(),
               .traffic = comm::traffic_since(traffic_before, comm.traffic()),
               .epochs_run = run.n_epochs_done(),
               .n_steps = run.n_steps(),
               .steps_per_epoch = solver->n_steps(),
               .stopped_early = run.has_lost_patience(),
               .has_converged = solver->has_converged(),
               .servers = solver->servers_report()};
  }
  run.check_end(rows);
  return model;
}

/// As train, by all who have rows where these are.
Model train_here(const table::RowSource& source, const table::Table* validation, const Options& options,
                 const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report,
                 const RunControl& control) {
  Model model = shape_model(source, options, control.base, comm);
  // Rows are set aside by their numbers, of which others know.
  const bool sets_aside = options.validation_fraction > 0 || control.is_training;
  if (sets_aside || source.labels().n_global_rows() > table::kBlockRows) {
    return train_on(source, validation, std::move(model), comm, n_threads, progress, report, control);
  }
  // A faulty row is reported with its own number, and in rows that do not count too.
  table::weigh_labels(source.labels(), {}, 0, label_rules(model.options), "training", comm);
  const table::Scaling as_they_are = no_scaling(model.schema.features.size());
  std::optional<table::Table> few = table::canonicalize(
      source,
      [&](const table::Table& window) {
        to_feature_rows(table::feature_columns(model.schema, window), window.rows(), model.schema, options, as_they_are,
                        "training", n_threads);
      },
      comm);
  if (!few) return train_on(source, validation, std::move(model), comm, n_threads, progress, report, control);
  return train_on(table::HeldRows(std::move(*few)), validation, std::move(model), comm, n_threads, progress, report,
                  control);
}

}  // namespace

bool is_training_row(table::GlobalRow row, const Options& options) {
  return uniform01(hash64(options.seed, kValidationStream, row.value)) >= options.validation_fraction;
}

Model train(const table::RowSource& source, const table::Table* validation, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainReport* report,
            const RunControl& control) {
  check_request(source, validation, options, options.validation_fraction > 0 || control.is_training);
  if (options.servers == 0) return train_here(source, validation, options, comm, n_threads, progress, report, control);
  const int n_workers = count_workers(options, comm.size());
  const std::vector<std::uint8_t> all(source.labels().n_rows(), 1);
  table::Table moved = table::keep_rows(source.labels(), all, comm, n_threads, n_workers);
  source.release_features(source.schema().features.size());
  return train_here(table::HeldRows(std::move(moved)), validation, options, comm, n_threads, progress, report, control);
}

}  // namespace podere::neural
