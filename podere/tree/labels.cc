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

double exact_total(std::span<const float> values, const comm::Communicator& comm) {
  ExactSum sum;
  for (const float value : values) sum.add(value);
  comm::all_reduce(comm, std::span(&sum, 1));
  return sum.value();
}

void need_label(const table::Table& table, const char* what) {
  if (!table.schema().label) throw_input_error("{} data: there is no label column", what);
}

/// Two, or those of softmax; none for numbers.
std::size_t n_label_classes(const Options& options) {
  return options.objective == Objective::kBinaryLogistic ? 2
         : options.objective == Objective::kSoftmax      ? static_cast<std::size_t>(options.n_classes)
                                                         : 0;
}

/// The factor of a row's weight by its label.
double weight_of_class(float label, const Options& options) {
  if (n_label_classes(options) == 0) return 1;
  const auto k = static_cast<std::size_t>(label);
  const double weight = k < options.class_weight.size() ? options.class_weight[k] : 1;
  return k == 1 ? weight * options.scale_pos_weight : weight;
}

/// The sum of weights of each class, over all ranks.
std::vector<double> class_sums(const LabelledRows& rows, std::size_t n_classes, const comm::Communicator& comm) {
  std::vector<ExactSum> sums(n_classes);
  for (std::size_t i = 0; i < rows.label.size(); ++i) sums[static_cast<std::size_t>(rows.label[i])].add(rows.weight[i]);
  comm::all_reduce(comm, std::span(sums));
  std::vector<double> values;
  for (const ExactSum& sum : sums) values.push_back(sum.value());
  return values;
}

}  // namespace

void check_label(float label, table::GlobalRow row, const Options& options, const char* what) {
  const auto refuse = [&](const char* allowed) {
    throw_input_error("{} data: label of row {} is {}, allowed is {}", what, row.value, label, allowed);
  };
  switch (options.objective) {
    case Objective::kBinaryLogistic:
      if (label != 0 && label != 1) {
        refuse("0 or 1: encode two classes so; for more use --objective softmax, for numbers squared-error");
      }
      return;
    case Objective::kSoftmax:
      if (!(label >= 0 && label < static_cast<float>(options.n_classes)) || label != std::floor(label)) {
        refuse(
            fmt::format("a whole number from 0 to {}: encode classes as 0, 1, 2, ...", options.n_classes - 1).c_str());
      }
      return;
    case Objective::kPoisson:
      if (!std::isfinite(label) || label < 0) refuse("a finite number, 0 or more");
      return;
    case Objective::kSquaredError:
    case Objective::kQuantile:
      if (!std::isfinite(label)) refuse("a finite number");
      return;
  }
}

WeightedLabels weigh_labels(const table::Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const Options& options, const char* what, const comm::Communicator& comm) {
  need_label(table, what);
  if (table.n_global_rows() == 0) throw_input_error("{} data: there are no rows", what);
  WeightedLabels labels;
  labels.weight.assign(table.n_rows(), 1.0F);
  if (!table.weight().empty()) std::copy(table.weight().begin(), table.weight().end(), labels.weight.begin());
  comm.agree([&] {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      const table::GlobalRow row = table.global({i});
      check_label(table.label()[i], row, options, what);
      labels.weight[i] = static_cast<float>(labels.weight[i] * weight_of_class(table.label()[i], options));
      if (!std::isfinite(labels.weight[i])) {
        throw_input_error("{} data: weight of row {} is {}, allowed is a finite number", what, row.value,
                          labels.weight[i]);
      }
    }
  });
  float largest = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (!is_used.empty() && is_used[i] != used) labels.weight[i] = 0;
    largest = std::max(largest, std::abs(labels.weight[i]));
  }
  labels.rows = {.label = table.label(),
                 .weight = labels.weight,
                 .weight_sum = exact_total(labels.weight, comm),
                 .max_abs_weight = comm.all_reduce(largest, comm::Reduction::kMax)};
  if (labels.rows.max_abs_weight == 0) throw_input_error("{} data: there are no rows with a weight", what);
  if (!(labels.rows.weight_sum > 0)) {
    throw_input_error("{} data: the weights sum to {}, allowed is above 0", what, labels.rows.weight_sum);
  }
  return labels;
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
  if (options.objective != Objective::kSoftmax) return options.n_classes;
  if (options.n_classes > 0) return options.n_classes;
  need_label(table, "training");
  Options widest = options;
  widest.n_classes = kMaxClasses;
  float largest = 0;
  comm.agree([&] {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      check_label(table.label()[i], table.global({i}), widest, "training");
      largest = std::max(largest, table.label()[i]);
    }
  });
  return std::max(2, static_cast<int>(comm.all_reduce(largest, comm::Reduction::kMax)) + 1);
}

namespace {

double mean_label(const LabelledRows& rows, const comm::Communicator& comm) {
  ExactSum sum;
  for (std::size_t i = 0; i < rows.label.size(); ++i) sum.add(static_cast<double>(rows.weight[i]) * rows.label[i]);
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
  const auto weights = weights_in_units(rows.weight, rows.max_abs_weight, n_global_rows);
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
