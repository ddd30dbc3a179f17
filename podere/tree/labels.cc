#include "podere/tree/labels.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/portable_math.h"
#include "podere/comm/exact_reduce.h"
#include "podere/tree/weighted_quantile.h"

namespace podere::tree {
namespace {

/// Two, or those of softmax; none for numbers.
std::size_t n_label_classes(const Options& options) {
  return options.objective == Objective::kBinaryLogistic ? 2
         : options.objective == Objective::kSoftmax      ? static_cast<std::size_t>(options.n_classes)
                                                         : 0;
}

/// The sum of weights of each class, over all ranks.
std::vector<double> class_sums(const LabelledRows& rows, std::size_t n_classes, const comm::Communicator& comm) {
  std::vector<ExactSum> sums(n_classes);
  for (std::size_t i = 0; i < rows.label.size(); ++i)
    sums[static_cast<std::size_t>(rows.label[i])].add(rows.weight_of(i));
  comm::all_reduce(comm, std::span(sums));
  std::vector<double> values;
  for (const ExactSum& sum : sums) values.push_back(sum.value());
  return values;
}

}  // namespace

table::LabelRules label_rules(const Options& options) {
  table::LabelRules rules{table::LabelKind::kNumbers, n_label_classes(options), options.class_weight,
                          "for more use --objective softmax, for numbers squared-error"};
  switch (options.objective) {
    case Objective::kBinaryLogistic:
      rules.kind = table::LabelKind::kTwoClasses;
      rules.class_weight.resize(std::max<std::size_t>(rules.class_weight.size(), 2), 1.0);
      rules.class_weight[1] *= options.scale_pos_weight;
      break;
    case Objective::kSoftmax:
      rules.kind = table::LabelKind::kClasses;
      break;
    case Objective::kPoisson:
      rules.kind = table::LabelKind::kCounts;
      break;
    case Objective::kSquaredError:
    case Objective::kQuantile:
      break;
  }
  return rules;
}

WeightedLabels weigh_labels(const table::Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const Options& options, const char* what, const comm::Communicator& comm) {
  return table::weigh_labels(table, is_used, used, label_rules(options), what, comm);
}

std::vector<double> balanced_class_weights(const table::Table& table, std::span<const std::uint8_t> is_training,
                                           const Options& options, const comm::Communicator& comm) {
  Options even = options;
  even.class_weight.clear();
  even.scale_pos_weight = 1;
  const WeightedLabels labels = weigh_labels(table, is_training, 1, even, "training", comm);
  std::vector<double> weights = class_sums(labels.rows, n_label_classes(options), comm);
  const auto n_present = static_cast<double>(std::ranges::count_if(weights, [](double sum) { return sum != 0; }));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] < 0) {
      throw_input_error("training data: the weights of class {} sum to {}, class-weight balanced needs 0 or more", k,
                        weights[k]);
    }
    weights[k] = weights[k] > 0 ? labels.rows.weight_sum / (n_present * weights[k]) : 1;
  }
  return weights;
}

int count_classes(const table::Table& table, const Options& options, const comm::Communicator& comm) {
  if (options.objective != Objective::kSoftmax || options.n_classes > 0) return options.n_classes;
  return table::count_classes(table, kMaxClasses, "training", comm);
}

namespace {

double mean_label(const LabelledRows& rows, const comm::Communicator& comm) {
  ExactSum sum;
  for (std::size_t i = 0; i < rows.label.size(); ++i) sum.add(static_cast<double>(rows.weight_of(i)) * rows.label[i]);
  comm::all_reduce(comm, std::span(&sum, 1));
  return sum.value() / rows.weight_sum;
}

double log_mean_label(const LabelledRows& rows, const comm::Communicator& comm) {
  const double mean = mean_label(rows, comm);
  if (!(mean > 0)) throw_input_error("training data: the mean of the labels is {}, allowed is above 0", mean);
  return portable_log(mean);
}

double quantile_label(const LabelledRows& rows, double q, const comm::Communicator& comm) {
  const auto n_global_rows = comm.all_reduce(std::uint64_t{rows.label.size()}, comm::Reduction::kSum);
  const auto weights = weights_in_units(rows, n_global_rows);
  const Slice all{0, rows.label.size()};
  return weighted_quantiles({rows.label, weights}, std::span(&all, 1), q, comm, /*n_threads=*/1)[0];
}

/// Logarithms of the shares of n_classes classes.
std::vector<double> log_class_shares(const LabelledRows& rows, std::size_t n_classes, const comm::Communicator& comm) {
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

/// The margin at which the prediction is `score`.
double margin_of(double score, Objective objective) {
  if (objective == Objective::kBinaryLogistic) return portable_log(score) - portable_log(1 - score);
  return objective == Objective::kPoisson ? portable_log(score) : score;
}

}  // namespace

std::vector<double> base_margins(const LabelledRows& rows, const Options& options, const comm::Communicator& comm) {
  if (options.base_score) return {margin_of(*options.base_score, options.objective)};
  switch (options.objective) {
    case Objective::kBinaryLogistic: {
      const std::vector<double> log_shares = log_class_shares(rows, 2, comm);
      return {log_shares[1] - log_shares[0]};
    }
    case Objective::kSoftmax:
      return log_class_shares(rows, static_cast<std::size_t>(options.n_classes), comm);
    case Objective::kSquaredError:
      return {mean_label(rows, comm)};
    case Objective::kPoisson:
      return {log_mean_label(rows, comm)};
    case Objective::kQuantile:
      return {quantile_label(rows, options.quantile, comm)};
  }
  throw Error("unknown objective");
}

}  // namespace podere::tree
