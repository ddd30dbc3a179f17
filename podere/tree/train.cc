#include "podere/tree/train.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/huge_array.h"
#include "podere/base/parallel.h"
#include "podere/table/features.h"
#include "podere/table/few_rows.h"
#include "podere/table/same_run.h"
#include "podere/tree/binned.h"
#include "podere/tree/booster.h"
#include "podere/tree/category_bins.h"
#include "podere/tree/constraints.h"
#include "podere/tree/cuts.h"
#include "podere/tree/grow.h"
#include "podere/tree/histogram.h"
#include "podere/tree/labels.h"
#include "podere/tree/objective.h"
#include "podere/tree/predict.h"
#include "podere/tree/quantile_leaves.h"
#include "podere/tree/streams.h"

namespace podere::tree {
namespace {

/// 1 for rows to train on, 0 for rows set aside.
std::vector<std::uint8_t> choose_training_rows(const table::Table& table, const Options& options,
                                               const RunControl& control) {
  if (control.is_training) return {control.is_training->begin(), control.is_training->end()};
  std::vector<std::uint8_t> is_training(table.n_rows(), 1);
  if (options.validation_fraction == 0) return is_training;
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

/// Throws InputError if `base` cannot be continued on this table with these options.
void check_base(const Model& base, const table::Schema& schema, const Options& options) {
  const Options& old = base.options;
  if (old.objective != options.objective) {
    throw_input_error("objective is {}, the model to continue has {}", to_string(options.objective),
                      to_string(old.objective));
  }
  if (old.n_classes != options.n_classes) {
    throw_input_error("classes is {}, the model to continue has {}", options.n_classes, old.n_classes);
  }
  if (traits_of(options.objective).has_quantile && old.quantile != options.quantile) {
    throw_input_error("quantile is {}, the model to continue has {}", options.quantile, old.quantile);
  }
  const std::vector<std::size_t> places = table::match_features(base.schema, schema);
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

/// How the data, or else the options, of the run that left the checkpoint were others than those of the run whose
/// `model` has no trees yet.
std::string other_run(const Model& checkpoint, const Model& model) {
  if (std::string difference = table::first_difference(checkpoint.schema, model.schema); !difference.empty())
    return difference;
  if (checkpoint.rows) {  // a whole model has none
    if (std::string difference = table::first_difference(*checkpoint.rows, *model.rows); !difference.empty())
      return difference;
  }
  // What follows from the rows, where nothing was chosen in its place.
  Options was = checkpoint.options;
  if (was.balance_classes && model.options.balance_classes) was.class_weight = model.options.class_weight;
  if (std::string difference = first_difference(was, model.options); !difference.empty()) return difference;
  const bool is_same = checkpoint.options == model.options && checkpoint.base_margin == model.base_margin;
  return is_same ? "" : "the rows, or the model to continue, are others";
}

/// Sums of quantized gradients hold so many rows (quantize.h).
constexpr std::uint64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void check_request(const table::RowSource& source, const table::Table* validation, const Options& options,
                   const RunControl& control) {
  validate(options);
  check_is_trained(options.objective);
  const bool sets_aside = options.validation_fraction > 0 || control.is_training.has_value();
  const bool validates = validation != nullptr || sets_aside;
  if (validation != nullptr && sets_aside) {
    throw InputError("validation data and validation-fraction are both given, allowed is one of them");
  }
  if (options.early_stopping_rounds > 0 && !validates) {
    throw InputError("early-stopping needs validation data or a validation-fraction");
  }
  if (control.base != nullptr && !source.holds_features()) {
    throw InputError("a model can only be continued on data whose features are held in memory");
  }

  const table::Table& table = source.labels();
  if (table.n_global_rows() > kMaxRows) {
    throw_input_error("training data: there are {} rows, allowed are at most {}", table.n_global_rows(), kMaxRows);
  }
  if (source.schema().features.empty()) throw InputError("training data: there are no feature columns");
  if (table.rows().begin % table::kBlockRows != 0 && table.n_rows() > 0) {
    throw_error("rows {} to {} do not begin at a row block", table.rows().begin, table.rows().end);
  }
}

/// As train, once that has checked what it is asked for and canonicalized few rows.
Model train_on(const table::RowSource& source, const table::Table* validation, const Options& options,
               const comm::Communicator& comm, int n_threads, Progress& progress, TrainTimes* times,
               const RunControl& control) {
  const Model* const base = control.base;
  const table::Table& table = source.labels();
  const Constraints constraints = resolve_constraints(options, source.schema());

  Stopwatch watch;
  progress.report({"bin", 0, 1, {}});
  Model model{.schema = source.schema(), .options = options, .base_margin = {}, .trees = {}, .history = {}};
  if (base != nullptr && options.n_classes == 0) model.options.n_classes = base->options.n_classes;
  model.options.n_classes = count_classes(table, model.options, comm);
  validate(model.options);
  if (base != nullptr) check_base(*base, source.schema(), model.options);
  const std::vector<std::uint8_t> is_training = choose_training_rows(table, options, control);
  if (options.balance_classes) {
    model.options.class_weight = balanced_class_weights(table, is_training, model.options, comm);
  }
  const WeightedLabels labels = weigh_labels(table, is_training, 1, model.options, "training", comm);
  model.base_margin = base != nullptr ? base->base_margin : base_margins(labels.rows, model.options, comm);

  const std::size_t n_base_rounds = base != nullptr ? base->n_rounds() : 0;
  const std::size_t n_rounds = n_base_rounds + static_cast<std::size_t>(options.n_trees);
  model.options.n_trees = static_cast<int>(n_rounds);
  if (control.offer || control.checkpoint != nullptr) model.rows = table::fingerprint_rows(table, comm);
  if (control.checkpoint != nullptr) table::check_same_run(other_run(*control.checkpoint, model));

  Booster booster(model, table, labels.rows, n_base_rounds, comm, n_threads);
  const bool validates = validation != nullptr || options.validation_fraction > 0 ||
                         (control.is_training && options.early_stopping_rounds > 0);
  if (validation != nullptr) {
    booster.validate_on(*validation, std::nullopt);
  } else if (validates) {
    booster.validate_on(table, is_training);
  }
  if (control.checkpoint != nullptr) {
    booster.resume(*control.checkpoint, source);
  } else if (base != nullptr) {
    booster.replay(*base);
  }
  // From here on features are not read.
  const double seconds_before_bins = watch.restart();
  SharedBins own_bins;
  SharedBins& bins = control.bins != nullptr ? *control.bins : own_bins;
  const auto make_bins = [&] {
    const std::vector<std::uint8_t> all(control.bins != nullptr ? table.n_rows() : 0, 1);
    const std::span<const std::uint8_t> that_count = control.bins != nullptr ? all : is_training;
    std::vector<FeatureCuts> cuts = find_cuts(source, that_count, options.bins, options.seed, comm, n_threads);
    std::optional<BinnedRows> made;
    comm.agree([&] { made.emplace(source, std::move(cuts), n_threads); });
    return *std::move(made);
  };
  const SharedBins::Loan loan = bins.borrow(make_bins, n_threads);
  BinnedRows& binned = loan.rows();
  booster.start();
  const HistogramLayout layout(binned, comm.size());
  if (times != nullptr) times->bin_seconds = watch.restart();
  progress.report(booster.progress(n_rounds));
  const comm::TrafficByKind traffic_before = comm.traffic();

  HistogramMemory memory;
  GrowContext context{model.options,         constraints,  layout,    comm, memory,
                      table.n_global_rows(), table.rows(), n_threads, {}};
  if (traits_of(options.objective).has_quantile) {
    context.refit_leaves = quantile_leaves(model.options, labels.rows, table.n_global_rows(), comm, n_threads);
  }
  if (control.is_training && !validates) context.is_followed = is_training;
  RowLists lists(table.n_rows());
  const std::size_t n_outputs = model.n_outputs();
  const std::size_t n_wanted = control.pause_after > 0 ? std::min(control.pause_after, n_rounds) : n_rounds;
  for (std::size_t round = model.n_rounds(); round < n_wanted && !booster.has_converged(); ++round) {
    std::vector<Tree> trees;
    for (std::size_t k = 0; k < n_outputs; ++k) {
      // Anew for each tree, since growing reorders them.
      const std::span<std::uint32_t> rows = draw_rows(table, is_training, options, round, n_threads, lists);
      trees.push_back(grow_tree(context, round * n_outputs + k, booster.gradients(), k, binned, rows,
                                lists.scratch.span().first(rows.size()), booster.margins(k)));
    }
    booster.take_round(std::move(trees));
    if (control.offer) control.offer(model);
    progress.report(booster.progress(n_rounds));
    std::int32_t stop_requested = progress.stop_requested() ? 1 : 0;
    comm.broadcast(std::span(&stop_requested, 1));
    if (stop_requested != 0) break;
  }
  if (options.early_stopping_rounds > 0) booster.keep_best_rounds();
  model.rows.reset();
  if (times != nullptr) {
    times->boost_seconds = seconds_before_bins + watch.seconds();
    times->boost_traffic = comm::traffic_since(traffic_before, comm.traffic());
  }
  return model;
}

}  // namespace

bool is_training_row(table::GlobalRow row, const Options& options) {
  return uniform01(hash64(options.seed, kValidationStream, row.value)) >= options.validation_fraction;
}

Model train(const table::RowSource& source, const table::Table* validation, const Options& options,
            const comm::Communicator& comm, int n_threads, Progress& progress, TrainTimes* times,
            const RunControl& control) {
  const Model* const base = control.base;
  check_request(source, validation, options, control);
  const auto train_these = [&](const table::RowSource& rows, const Options& as, const RunControl& how) {
    return train_on(rows, validation, as, comm, n_threads, progress, times, how);
  };
  // Rows are set aside by their numbers, of which others know.
  const bool sets_aside = options.validation_fraction > 0 || control.is_training;
  if (sets_aside || source.labels().n_global_rows() > table::kBlockRows) {
    return train_these(source, options, control);
  }
  // A faulty row is reported with its own number, and classes count even if no row of theirs does.
  Options checked = options;
  if (base != nullptr && options.n_classes == 0) checked.n_classes = base->options.n_classes;
  checked.n_classes = count_classes(source.labels(), checked, comm);
  validate(checked);
  if (base != nullptr) check_base(*base, source.schema(), checked);
  weigh_labels(source.labels(), {}, 0, checked, "training", comm);
  CategoryCounts categories(source.schema());
  std::optional<table::Table> few = table::canonicalize(
      source,
      [&](const table::Table& window) {
        categories.take(window, std::vector<std::uint8_t>(window.n_rows(), 1), 1);  // which checks them
      },
      comm);
  if (!few) return train_these(source, options, control);
  RunControl of_few = control;
  of_few.bins = nullptr;  // those are of the rows in their order
  return train_these(table::HeldRows(std::move(*few)), checked, of_few);
}

}  // namespace podere::tree
