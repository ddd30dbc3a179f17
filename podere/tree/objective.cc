#include "podere/tree/objective.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/portable_math.h"
#include "podere/base/printable.h"
#include "podere/comm/exact_reduce.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/tree/labels.h"
#include "podere/tree/weighted_quantile.h"

namespace podere::tree {
namespace {

using comm::Communicator;
using table::LabeledRows;
using table::LabelKind;

// Margins that fit best without trees.

double mean_label(const LabeledRows& rows, const Communicator& comm) {
  ExactSum sum;
  for (std::size_t i = 0; i < rows.label.size(); ++i) sum.add(static_cast<double>(rows.weight_of(i)) * rows.label[i]);
  comm::all_reduce(comm, std::span(&sum, 1));
  return sum.value() / rows.weight_sum;
}

/// Logarithms of the shares of n_classes classes.
std::vector<double> log_class_shares(const LabeledRows& rows, std::size_t n_classes, const Communicator& comm) {
  constexpr double kLeastShare = 1e-6;
  std::vector<double> log_shares;
  std::size_t n_present = 0;
  for (const double sum : class_sums(rows, n_classes, comm)) {
    n_present += sum > 0 ? 1 : 0;
    log_shares.push_back(portable_log(std::max(sum / rows.weight_sum, kLeastShare)));
  }
  if (n_present < 2)
    throw InputError("training data: the labels are all of one class, at least two classes with weight are needed");
  return log_shares;
}

std::vector<double> log_odds(const LabeledRows& rows, const Options& /*options*/, const Communicator& comm) {
  const std::vector<double> log_shares = log_class_shares(rows, 2, comm);
  return {log_shares[1] - log_shares[0]};
}

std::vector<double> log_shares(const LabeledRows& rows, const Options& options, const Communicator& comm) {
  return log_class_shares(rows, static_cast<std::size_t>(options.n_classes), comm);
}

std::vector<double> mean(const LabeledRows& rows, const Options& /*options*/, const Communicator& comm) {
  return {mean_label(rows, comm)};
}

std::vector<double> log_mean(const LabeledRows& rows, const Options& /*options*/, const Communicator& comm) {
  const double mean = mean_label(rows, comm);
  if (!(mean > 0)) throw_input_error("training data: the mean of the labels is {}, allowed is above 0", mean);
  return {portable_log(mean)};
}

std::vector<double> quantile(const LabeledRows& rows, const Options& options, const Communicator& comm) {
  const auto n_global_rows = comm.all_reduce(std::uint64_t{rows.label.size()}, comm::Reduction::kSum);
  const auto weights = weights_in_units(rows, n_global_rows);
  const Slice all{0, rows.label.size()};
  return {weighted_quantiles({rows.label, weights}, std::span(&all, 1), options.quantile, comm, /*n_threads=*/1)[0]};
}

// Measures.

double auc(const Communicator& comm, const Predictions& p, const Options& /*options*/) {
  return evaluate::auc(comm, p.values, p.label, p.weight);
}
double squared_error(const Communicator& comm, const Predictions& p, const Options& /*options*/) {
  return evaluate::root_mean_squared_error(comm, p.values, p.label, p.weight);
}
double log_loss(const Communicator& comm, const Predictions& p, const Options& /*options*/) {
  return evaluate::multi_log_loss(comm, p.values, p.n_outputs, p.label, p.weight);
}
double poisson_deviance(const Communicator& comm, const Predictions& p, const Options& /*options*/) {
  return evaluate::mean_poisson_deviance(comm, p.values, p.label, p.weight);
}
double pinball_loss(const Communicator& comm, const Predictions& p, const Options& options) {
  return evaluate::pinball_loss(comm, p.values, p.label, p.weight, options.quantile);
}

/// In the order of Objective. Probabilities bound derivatives: |p - y| <= 1, p (1 - p) <= 1/4. XGBoost 1.7 has no
/// quantiles; with squared error the margin is the prediction too.
constexpr std::array kObjectives = {
    ObjectiveTraits{.objective = Objective::kBinaryLogistic,
                    .labels = LabelKind::kTwoClasses,
                    .link = Link::kLogit,
                    .gradients = logistic_gradients,
                    .bounds =
                        [](const Options&) {
                          return DerivativeBounds{1, 0.25};
                        },
                    .best_margins = log_odds,
                    .measure = {"auc", false, auc},
                    .has_quantile = false,
                    .has_max_delta_step = false,
                    .xgboost = "binary:logistic"},
    ObjectiveTraits{.objective = Objective::kSquaredError,
                    .labels = LabelKind::kNumbers,
                    .link = Link::kIdentity,
                    .gradients = squared_error_gradients,
                    .bounds =
                        [](const Options&) {
                          return DerivativeBounds{0, 1};
                        },
                    .best_margins = mean,
                    .measure = {"root_mean_squared_error", true, squared_error},
                    .has_quantile = false,
                    .has_max_delta_step = false,
                    .xgboost = "reg:squarederror"},
    ObjectiveTraits{.objective = Objective::kSoftmax,
                    .labels = LabelKind::kClasses,
                    .link = Link::kSoftmax,
                    .gradients = softmax_gradients,
                    .bounds =
                        [](const Options&) {
                          return DerivativeBounds{1, 0.5};
                        },
                    .best_margins = log_shares,
                    .measure = {"log_loss", true, log_loss},
                    .has_quantile = false,
                    .has_max_delta_step = false,
                    .xgboost = "multi:softprob"},
    ObjectiveTraits{.objective = Objective::kPoisson,
                    .labels = LabelKind::kCounts,
                    .link = Link::kLog,
                    .gradients = poisson_gradients,
                    .bounds =
                        [](const Options&) {
                          return DerivativeBounds{0, 0};
                        },
                    .best_margins = log_mean,
                    .measure = {"mean_poisson_deviance", true, poisson_deviance},
                    .has_quantile = false,
                    .has_max_delta_step = true,
                    .xgboost = "count:poisson"},
    ObjectiveTraits{.objective = Objective::kQuantile,
                    .labels = LabelKind::kNumbers,
                    .link = Link::kIdentity,
                    .gradients = quantile_gradients,
                    .bounds =
                        [](const Options& o) {
                          return DerivativeBounds{std::max(o.quantile, 1 - o.quantile), 1};
                        },
                    .best_margins = quantile,
                    .measure = {"pinball_loss", true, pinball_loss},
                    .has_quantile = true,
                    .has_max_delta_step = false,
                    .xgboost = "reg:squarederror"},
    ObjectiveTraits{.objective = Objective::kProbabilities,
                    .labels = LabelKind::kClasses,
                    .link = Link::kProbability,
                    .gradients = nullptr,
                    .bounds = nullptr,
                    .best_margins = nullptr,
                    .measure = {"log_loss", true, log_loss},
                    .has_quantile = false,
                    .has_max_delta_step = false,
                    .xgboost = nullptr},
    ObjectiveTraits{.objective = Objective::kOneVersusAll,
                    .labels = LabelKind::kClasses,
                    .link = Link::kLogit,
                    .gradients = nullptr,
                    .bounds = nullptr,
                    .best_margins = nullptr,
                    .measure = {"log_loss", true, log_loss},
                    .has_quantile = false,
                    .has_max_delta_step = false,
                    .xgboost = nullptr},
};
static_assert(std::tuple_size_v<decltype(kObjectives)> == names_of(Objective{}).values.size());

}  // namespace

const ObjectiveTraits& traits_of(Objective objective) { return kObjectives[static_cast<std::size_t>(objective)]; }

std::span<const ObjectiveTraits> all_objectives() { return kObjectives; }

std::vector<std::string> trained_objectives() {
  std::vector<std::string> names;
  for (const ObjectiveTraits& traits : kObjectives) {
    if (traits.is_trained()) names.push_back(to_string(traits.objective));
  }
  return names;
}

Objective trained_objective(const std::string& name) {
  const std::vector<std::string> names = trained_objectives();
  if (std::ranges::find(names, name) == names.end())
    throw_input_error("objective is {}, allowed are {}", printable(name), fmt::join(names, ", "));
  return parse_name<Objective>(name);
}

void check_is_trained(Objective objective) {
  if (traits_of(objective).is_trained()) return;
  throw_input_error("objective is {}, which only models of other programs have: those that are trained are {}",
                    to_string(objective), fmt::join(trained_objectives(), ", "));
}

std::size_t n_outputs_of(const Options& options) {
  return traits_of(options.objective).has_output_per_class() ? static_cast<std::size_t>(options.n_classes) : 1;
}

std::size_t n_classes_of(const Options& options) {
  switch (traits_of(options.objective).labels) {
    case LabelKind::kTwoClasses:
      return 2;
    case LabelKind::kClasses:
      return static_cast<std::size_t>(std::max(options.n_classes, 0));
    case LabelKind::kCounts:
    case LabelKind::kNumbers:
    case LabelKind::kNone:
      break;
  }
  return 0;
}

}  // namespace podere::tree
