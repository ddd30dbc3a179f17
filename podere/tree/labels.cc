#include "podere/tree/labels.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/portable_math.h"
#include "podere/comm/exact_reduce.h"
#include "podere/tree/objective.h"

namespace podere::tree {

std::vector<double> class_sums(const LabeledRows& rows, std::size_t n_classes, const comm::Communicator& comm) {
  std::vector<ExactSum> sums(n_classes);
  for (std::size_t i = 0; i < rows.label.size(); ++i)
    sums[static_cast<std::size_t>(rows.label[i])].add(rows.weight_of(i));
  comm::all_reduce(comm, std::span(sums));
  std::vector<double> values;
  for (const ExactSum& sum : sums) values.push_back(sum.value());
  return values;
}

table::LabelRules label_rules(const Options& options) {
  table::LabelRules rules{traits_of(options.objective).labels, n_classes_of(options), options.class_weight,
                          "for more use --objective softmax, for numbers squared-error"};
  if (rules.kind == table::LabelKind::kTwoClasses) {
    rules.class_weight.resize(std::max<std::size_t>(rules.class_weight.size(), 2), 1.0);
    rules.class_weight[1] *= options.scale_pos_weight;
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
  std::vector<double> weights = class_sums(labels.rows, n_classes_of(options), comm);
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
  if (traits_of(options.objective).labels != table::LabelKind::kClasses || options.n_classes > 0)
    return options.n_classes;
  return table::count_classes(table, kMaxClasses, "training", comm);
}

namespace {

/// The margin at which the prediction is `score`.
double margin_of(double score, Link link) {
  if (link == Link::kLogit) return portable_log(score) - portable_log(1 - score);
  return link == Link::kLog ? portable_log(score) : score;
}

}  // namespace

std::vector<double> base_margins(const LabeledRows& rows, const Options& options, const comm::Communicator& comm) {
  const ObjectiveTraits& traits = traits_of(options.objective);
  if (options.base_score) return {margin_of(*options.base_score, traits.link)};
  return traits.best_margins(rows, options, comm);
}

}  // namespace podere::tree
