#include "podere/tree/train.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/huge_array.h"
#include "podere/base/parallel.h"
#include "podere/evaluate/classification.h"
#include "podere/tree/binned.h"
#include "podere/tree/constraints.h"
#include "podere/tree/cuts.h"
#include "podere/tree/gradient.h"
#include "podere/tree/grow.h"
#include "podere/tree/histogram.h"
#include "podere/tree/labels.h"
#include "podere/tree/predict.h"
#include "podere/tree/quantile_leaves.h"
#include "podere/tree/streams.h"

namespace podere::tree {
namespace {

/// Rows that judge the model and do not shape it: a table of their own, or rows set aside of the training table.
class Validation {
 public:
  /// Of all rows of a table of their own, or of those in the training table with a zero in `is_training` [n_rows].
  Validation(const table::Table& table, std::optional<std::span<const std::uint8_t>> is_training, const Model& model,
             const comm::Communicator& comm, int n_threads)
      : comm_(comm),
        n_threads_(n_threads),
        options_(model.options),
        n_outputs_(model.n_outputs()),
        labels_(weigh_labels(table, is_training.value_or(std::span<const std::uint8_t>()), 0, model.options,
                             "validation", comm)) {
    if (!is_training) {
      columns_ = feature_columns(model.schema, table);
      own_margins_ = start_margins(model.base_margin, table.n_rows());
    }
    const bool has_weights = !table.weight().empty();
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      if (is_training && (*is_training)[i] != 0) continue;
      rows_.push_back(i);
      label_.push_back(table.label()[i]);
      if (has_weights) weight_.push_back(table.weight()[i]);
    }
  }

  /// Takes in the trees of a round; returns the loss. `training_margins` are those of the training table.
  double update(std::span<const Tree> trees, std::span<const float> training_margins) {
    if (!own_margins_.empty()) add_trees(trees, n_outputs_, columns_, n_threads_, own_margins_);
    compute_gradients(options_, labels_.rows, margins(training_margins), n_outputs_, comm_, n_threads_, gradients_);
    return gradients_.loss;
  }

  /// Of two classes; nothing for other objectives. Collective.
  std::optional<double> auc(std::span<const float> training_margins) const {
    if (options_.objective != Objective::kBinaryLogistic) return std::nullopt;
    std::vector<float> scores;
    scores.reserve(rows_.size());
    for (const std::size_t row : rows_) scores.push_back(margins(training_margins)[row]);
    return evaluate::auc(comm_, scores, label_, weight_);
  }

 private:
  std::span<const float> margins(std::span<const float> training_margins) const {
    return columns_.empty() ? training_margins : own_margins_;
  }

  const comm::Communicator& comm_;
  int n_threads_;
  const Options& options_;
  std::size_t n_outputs_;
  WeightedLabels labels_;                        // weight 0 for rows that are not validated
  std::vector<std::span<const float>> columns_;  // of a table of its own
  std::vector<float> own_margins_;               // of a table of its own
  std::vector<std::size_t> rows_;                // local numbers of the rows that are validated
  std::vector<float> label_;                     // of these
  std::vector<float> weight_;                    // of these; empty without weights
  Gradients gradients_;
};

/// 1 for rows to train on, 0 for rows set aside.
std::vector<std::uint8_t> choose_training_rows(const table::Table& table, const Options& options) {
  std::vector<std::uint8_t> is_training(table.n_rows());
  for (std::size_t i = 0; i < table.n_rows(); ++i) is_training[i] = is_training_row(table.global({i}), options) ? 1 : 0;
  return is_training;
}

/// Memory for lists of rows, as long as the training: got anew for every round, the system would clear it each time.
struct RowLists {
  explicit RowLists(std::size_t n_rows) : drawn(n_rows), scratch(n_rows) {}
  HugeArray<std::uint32_t> drawn;
  HugeArray<std::uint32_t> scratch;
};

/// The rows of round `round`, rising, in `lists.drawn`: those to train on, thinned by hash of (seed, round, global
/// row).
std::span<std::uint32_t> draw_rows(const table::Table& table, std::span<const std::uint8_t> is_training,
                                   const Options& options, std::uint64_t round, int n_threads, RowLists& lists) {
  constexpr std::size_t kGrain = 65536;
  const std::uint64_t key = hash64(options.seed, kSubsampleStream, round);
  // Each slice of the table draws where it lies in `scratch`; then the slices close up.
  std::vector<std::size_t> ends((table.n_rows() + kGrain - 1) / kGrain);
  parallel_for_slices(n_threads, table.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    std::size_t n = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t row = table.global({i}).value;
      const bool is_drawn = options.subsample >= 1 || uniform01(mix64(key + row * kGoldenGamma)) < options.subsample;
      lists.scratch[begin + n] = static_cast<std::uint32_t>(i);
      n += is_training[i] != 0 && is_drawn ? 1 : 0;
    }
    ends[begin / kGrain] = n;
  });
  std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
  parallel_for(n_threads, ends.size(), [&](std::size_t slice, int) {
    const std::size_t first = slice > 0 ? ends[slice - 1] : 0;
    std::copy_n(lists.scratch.data() + slice * kGrain, ends[slice] - first, lists.drawn.data() + first);
  });
  return lists.drawn.span().first(ends.empty() ? 0 : ends.back());
}

/// Follows the validation loss from round to round.
class EarlyStopping {
 public:
  explicit EarlyStopping(int patience) : patience_(patience) {}
  /// True when `loss` of round `round` (from 0) is one without progress too many.
  bool should_stop(double loss, std::size_t round) {
    if (loss < best_loss_) {
      best_loss_ = loss;
      best_round_ = round;
    }
    return patience_ > 0 && round - best_round_ >= static_cast<std::size_t>(patience_);
  }
  std::size_t best_round() const { return best_round_; }

 private:
  int patience_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::size_t best_round_ = 0;
};

/// Throws InputError if `base` cannot be continued on this table with these options.
void check_base(const Model& base, const table::Schema& schema, const Options& options) {
  const Options& old = base.options;
  if (old.objective != options.objective) {
    throw_input_error("objective is {}, the model to continue has {}", to_string(options.objective),
                      to_string(old.objective));
  }
  if (options.objective == Objective::kSoftmax && old.n_classes != options.n_classes) {
    throw_input_error("classes is {}, the model to continue has {}", options.n_classes, old.n_classes);
  }
  if (options.objective == Objective::kQuantile && old.quantile != options.quantile) {
    throw_input_error("quantile is {}, the model to continue has {}", options.quantile, old.quantile);
  }
  const std::vector<std::size_t> places = match_features(base.schema.features, schema);
  if (places.size() != schema.features.size() || !std::ranges::is_sorted(places)) {
    throw_input_error("the model to continue has the features {}, the data {}: choose them in that order",
                      fmt::join(base.schema.features, ","), fmt::join(schema.features, ","));
  }
  if (base.schema.categories != schema.categories) {
    throw InputError("the model to continue and the data have other categories");
  }
  if (base.n_rounds() + static_cast<std::size_t>(options.n_trees) > kMaxTrees) {
    throw_input_error("trees is {} beyond the {} of the model to continue, allowed are {} in all", options.n_trees,
                      base.n_rounds(), kMaxTrees);
  }
}

void keep_rounds(Model& model, std::size_t n_rounds) {
  model.trees.resize(n_rounds * model.n_outputs());
  model.history.train_loss.resize(n_rounds);
  model.history.validation_loss.resize(n_rounds);
}

/// Sums of quantised gradients hold so many rows (quantise.h).
constexpr std::uint64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void check_rows(const table::RowSource& source) {
  const table::Table& table = source.labels();
  if (table.n_global_rows() > kMaxRows) {
    throw_input_error("training data: there are {} rows, allowed are at most {}", table.n_global_rows(), kMaxRows);
  }
  if (source.schema().features.empty()) throw InputError("training data: there are no feature columns");
  if (table.rows().begin % table::kBlockRows != 0 && table.n_rows() > 0) {
    throw_error("rows {} to {} do not begin at a row block", table.rows().begin, table.rows().end);
  }
}

/// After `n_rounds` rounds. What is looked at is the same on all ranks.
void check_finite(const Gradients& gradients, std::size_t n_rounds) {
  if (std::isfinite(gradients.max_abs_g) && std::isfinite(gradients.max_abs_h) && std::isfinite(gradients.loss)) return;
  if (n_rounds == 0) {
    throw InputError("training data: labels or weights are too large: the loss overflows");
  }
  throw_input_error(
      "the loss is no longer finite after {} trees: use a smaller learning-rate, a larger lambda or a larger "
      "min-child-weight (negative weights can leave a leaf almost without weight)",
      n_rounds);
}

}  // namespace

bool is_training_row(table::GlobalRow row, const Options& options) {
  return uniform01(hash64(options.seed, kValidationStream, row.value)) >= options.validation_fraction;
}

Model train(const table::RowSource& source, const table::Table* validation_table, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainTimes* times, const Model* base) {
  const table::Table& table = source.labels();
  const table::Schema& schema = source.schema();
  validate(options);
  const bool has_validation = validation_table != nullptr || options.validation_fraction > 0;
  if (validation_table != nullptr && options.validation_fraction > 0) {
    throw InputError("validation data and validation-fraction are both given, allowed is one of them");
  }
  if (options.early_stopping_rounds > 0 && !has_validation) {
    throw InputError("early-stopping needs validation data or a validation-fraction");
  }
  if (base != nullptr && !source.holds_features()) {
    throw InputError("a model can only be continued on data whose features are held in memory");
  }
  check_rows(source);
  const Constraints constraints = resolve_constraints(options, schema);

  Stopwatch watch;
  Model model{.schema = schema, .options = options, .base_margin = {}, .trees = {}, .history = {}};
  if (base != nullptr && options.n_classes == 0) model.options.n_classes = base->options.n_classes;
  model.options.n_classes = count_classes(table, model.options, comm);
  validate(model.options);
  if (base != nullptr) check_base(*base, schema, model.options);
  const std::vector<std::uint8_t> is_training = choose_training_rows(table, options);
  if (options.balance_classes) {
    model.options.class_weight = balanced_class_weights(table, is_training, model.options, comm);
  }
  const WeightedLabels labels = weigh_labels(table, is_training, 1, model.options, "training", comm);
  model.base_margin = base != nullptr ? base->base_margin : base_margins(labels.rows, model.options, comm);
  const std::size_t n_outputs = model.n_outputs();
  std::optional<Validation> validation;
  if (validation_table != nullptr) {
    validation.emplace(*validation_table, std::nullopt, model, comm, n_threads);
  } else if (has_validation) {
    validation.emplace(table, is_training, model, comm, n_threads);
  }

  std::vector<float> margins = start_margins(model.base_margin, table.n_rows());
  Gradients gradients;
  compute_gradients(model.options, labels.rows, margins, n_outputs, comm, n_threads, gradients);
  check_finite(gradients, 0);
  /// Of the round whose trees, already in `margins`, come last.
  const auto take_losses = [&](std::size_t n_rounds) {
    compute_gradients(model.options, labels.rows, margins, n_outputs, comm, n_threads, gradients);
    check_finite(gradients, n_rounds);
    model.history.train_loss.push_back(gradients.loss);
    if (!validation) return;
    const auto trees = std::span(model.trees).subspan((n_rounds - 1) * n_outputs, n_outputs);
    model.history.validation_loss.push_back(validation->update(trees, margins));
  };
  EarlyStopping stopping(options.early_stopping_rounds);
  std::size_t n_base_rounds = 0;
  if (base != nullptr) {
    model.trees = base->trees;
    const auto columns = feature_columns(base->schema, table);
    // Round by round: the same additions in the same order as when these trees were grown.
    for (; n_base_rounds < base->n_rounds(); ++n_base_rounds) {
      add_trees(std::span(base->trees).subspan(n_base_rounds * n_outputs, n_outputs), n_outputs, columns, n_threads,
                margins);
      take_losses(n_base_rounds + 1);
    }
    if (validation && n_base_rounds > 0) stopping.should_stop(model.history.validation_loss.back(), n_base_rounds - 1);
  }
  // From here on nobody reads features.
  const double seconds_before_bins = watch.restart();
  std::vector<FeatureCuts> cuts = find_cuts(source, is_training, options.bins, options.seed, comm, n_threads);
  std::optional<BinnedRows> binned;
  comm.agree([&] { binned.emplace(source, std::move(cuts), n_threads); });
  const HistogramLayout layout(*binned, comm.size());
  if (times != nullptr) times->bin_seconds = watch.restart();
  const comm::TrafficByKind traffic_before = comm.traffic();

  HistogramMemory memory;
  GrowContext context{model.options,         constraints,  layout,    comm, memory,
                      table.n_global_rows(), table.rows(), n_threads, {}};
  if (options.objective == Objective::kQuantile) {
    context.refit_leaves = quantile_leaves(model.options, labels.rows, table.n_global_rows(), comm, n_threads);
  }

  const std::size_t n_rounds = n_base_rounds + static_cast<std::size_t>(options.n_trees);
  model.options.n_trees = static_cast<int>(n_rounds);
  RowLists lists(table.n_rows());
  for (std::size_t round = n_base_rounds; round < n_rounds; ++round) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      // Anew for each tree, since growing reorders them.
      const std::span<std::uint32_t> rows = draw_rows(table, is_training, options, round, n_threads, lists);
      model.trees.push_back(grow_tree(context, round * n_outputs + k, gradients, k, *binned, rows,
                                      lists.scratch.span().first(rows.size()),
                                      std::span(margins).subspan(k * table.n_rows(), table.n_rows())));
    }
    take_losses(round + 1);

    ProgressStep step{.phase = "train", .done = round + 1, .total = n_rounds, .metrics = {{"loss", gradients.loss}}};
    bool is_last = false;
    if (validation) {
      const double loss = model.history.validation_loss.back();
      step.metrics.emplace_back("validation_loss", loss);
      if (const auto auc = validation->auc(margins)) step.metrics.emplace_back("validation_auc", *auc);
      is_last = stopping.should_stop(loss, round);
    }
    progress.report(step);
    std::int32_t stop_requested = progress.stop_requested() ? 1 : 0;
    comm.broadcast(std::span(&stop_requested, 1));
    if (is_last || stop_requested != 0) break;
  }
  if (options.early_stopping_rounds > 0) keep_rounds(model, stopping.best_round() + 1);
  if (times != nullptr) {
    times->boost_seconds = seconds_before_bins + watch.seconds();
    times->boost_traffic = comm::traffic_since(traffic_before, comm.traffic());
  }
  return model;
}

}  // namespace podere::tree
