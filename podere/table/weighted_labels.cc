#include "podere/table/weighted_labels.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/comm/exact_reduce.h"

namespace podere::table {
namespace {

/// Of those who bring files of libsvm or XGBoost with them.
constexpr const char* kMinusOneAdvice =
    "; if -1 is a class, write 0 instead, such as with sed 's/^-1\\b/0/' if labels are the first column";

bool has_classes(const LabelRules& rules) {
  return rules.kind == LabelKind::kTwoClasses || rules.kind == LabelKind::kClasses;
}

double total_weight(const LabeledRows& rows, const comm::Communicator& comm) {
  ExactSum sum;
  if (rows.weight.empty()) sum.add(static_cast<double>(rows.label.size()));
  for (const float weight : rows.weight) sum.add(weight);
  comm::all_reduce(comm, std::span(&sum, 1));
  return sum.value();
}

void need_label(const Table& table, const char* what) {
  if (!table.schema().label) throw_input_error("{} data: there is no label column", what);
}

/// The factor of a row's weight by its label, which is allowed.
double weight_of_class(float label, const LabelRules& rules) {
  if (!has_classes(rules)) return 1;
  const auto k = static_cast<std::size_t>(label);
  return k < rules.class_weight.size() ? rules.class_weight[k] : 1;
}

}  // namespace

void check_label(float label, GlobalRow row, const LabelRules& rules, const char* what) {
  const auto refuse = [&](const std::string& allowed) {
    throw_input_error("{} data: label of row {} is {}, allowed is {}{}", what, row.value, label, allowed,
                      label == -1 && has_classes(rules) ? kMinusOneAdvice : "");
  };
  if (std::isnan(label) && uses_labels(rules)) {
    refuse(
        fmt::format("{}: leave out rows whose label is missing", has_classes(rules) ? "a class" : "a finite number"));
  }
  switch (rules.kind) {
    case LabelKind::kTwoClasses:
      if (label != 0 && label != 1) refuse("0 or 1: encode two classes so; " + rules.advice);
      return;
    case LabelKind::kClasses:
      if (!(label >= 0 && label < static_cast<float>(rules.n_classes)) || label != std::floor(label)) {
        refuse(fmt::format("a whole number from 0 to {}: encode classes as 0, 1, 2, ...", rules.n_classes - 1));
      }
      return;
    case LabelKind::kCounts:
      if (!std::isfinite(label) || label < 0) refuse("a finite number, 0 or more");
      return;
    case LabelKind::kNumbers:
      if (!std::isfinite(label)) refuse("a finite number");
      return;
    case LabelKind::kNone:
      return;
  }
}

int count_classes(const Table& table, int most, const char* what, const comm::Communicator& comm) {
  need_label(table, what);
  if (const std::size_t n = table.schema().classes.size(); n > 0) return std::max(2, static_cast<int>(n));
  const LabelRules widest{LabelKind::kClasses, static_cast<std::size_t>(most), {}, {}};
  float largest = 0;
  auto least = static_cast<float>(most);
  comm.agree([&] {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      check_label(table.label()[i], table.global({i}), widest, what);
      largest = std::max(largest, table.label()[i]);
      least = std::min(least, table.label()[i]);
    }
  });
  const int n_classes = std::max(2, static_cast<int>(comm.all_reduce(largest, comm::Reduction::kMax)) + 1);
  least = comm.all_reduce(least, comm::Reduction::kMin);
  if (table.n_global_rows() > 0 && least > 0) {
    throw_input_error(
        "{} data: the labels are {} to {}, and classes count from 0: encode them as 0 to {}, or say --classes {} if "
        "class "
        "0 is one that has no rows here; estimators of the Python package take any labels",
        what, least, n_classes - 1, n_classes - 1 - static_cast<int>(least), n_classes);
  }
  return n_classes;
}

WeightedLabels weigh_labels(const Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const LabelRules& rules, const char* what, const comm::Communicator& comm) {
  need_label(table, what);
  if (table.n_global_rows() == 0) throw_input_error("{} data: there are no rows", what);
  WeightedLabels labels;
  const auto is_left_out = [&](std::size_t i) { return !is_used.empty() && is_used[i] != used; };
  comm.agree([&] {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      const GlobalRow row = table.global({i});
      check_label(table.label()[i], row, rules, what);
      const double of_row = table.weight().empty() ? 1 : table.weight()[i];
      const double of_class = weight_of_class(table.label()[i], rules);
      const auto weight = static_cast<float>(of_row * of_class);
      if (!std::isfinite(of_row)) {
        throw_input_error("{} data: weight of row {} is {}, allowed is a finite number", what, row.value, of_row);
      }
      if (!std::isfinite(weight)) {
        throw_input_error("{} data: weight of row {} is {} times {} of its class, beyond float32", what, row.value,
                          of_row, of_class);
      }
      if (labels.weight.empty() && (weight != 1 || is_left_out(i))) labels.weight.assign(table.n_rows(), 1.0F);
      if (!labels.weight.empty()) labels.weight[i] = is_left_out(i) ? 0 : weight;
    }
  });
  labels.rows = {.label = table.label(), .weight = labels.weight};
  float largest = labels.weight.empty() && table.n_rows() > 0 ? 1 : 0;
  for (const float weight : labels.weight) largest = std::max(largest, std::abs(weight));
  labels.rows.max_abs_weight = comm.all_reduce(largest, comm::Reduction::kMax);
  labels.rows.weight_sum = total_weight(labels.rows, comm);
  if (labels.rows.max_abs_weight == 0) throw_input_error("{} data: there are no rows with a weight", what);
  if (!(labels.rows.weight_sum > 0)) {
    throw_input_error("{} data: the weights sum to {}, allowed is above 0", what, labels.rows.weight_sum);
  }
  return labels;
}

}  // namespace podere::table
