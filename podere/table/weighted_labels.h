// Labels that an algorithm takes, with the weights that count for one purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

enum class LabelKind {
  kTwoClasses,  ///< 0 or 1
  kClasses,     ///< 0 .. n_classes-1
  kCounts,      ///< any finite number from 0
  kNumbers,     ///< any finite number
  kNone,        ///< none is looked at: the model finds clusters of rows, or scores them
};

/// What is allowed of labels, and what they do to weights.
struct LabelRules {
  LabelKind kind = LabelKind::kNumbers;
  std::size_t n_classes = 0;         ///< of kClasses; of kNone the clusters, 0 where there are none
  std::vector<double> class_weight;  ///< by which weights of class k are multiplied; 1 for classes beyond
  std::string advice;                ///< what to do with more than two classes: ends the message about kTwoClasses
};

inline bool uses_labels(const LabelRules& rules) { return rules.kind != LabelKind::kNone; }

/// Throws InputError, "{what} data: label of row ...", for a label that is not allowed.
void check_label(float label, GlobalRow row, const LabelRules& rules, const char* what);

/// As many as the schema has classes, else the largest label plus one; at least 2. Collective. Throws InputError, on
/// all ranks, if there is no label, or one is no whole number from 0 to most - 1, or none is 0, which is a class that
/// was not meant.
int count_classes(const Table& table, int most, const char* what, const comm::Communicator& comm);

/// Rows with what they count. Spans of who made them.
struct LabeledRows {
  std::span<const float> label;   ///< [n_rows]
  std::span<const float> weight;  ///< [n_rows]; empty: each is 1
  double weight_sum = 0;          ///< over all ranks
  double max_abs_weight = 0;      ///< over all ranks

  float weight_of(std::size_t row) const { return weight.empty() ? 1.0F : weight[row]; }
};

struct WeightedLabels {
  std::vector<float> weight;  ///< [n_rows], 0 where a row is not used; empty if each is 1
  LabeledRows rows;           ///< its spans point into `weight` and into the table
};

/// The labels of the rows with `is_used` [n_rows] == `used`, or all if `is_used` is empty, with weights of rows times
/// those of their classes. Collective. Throws InputError, on all ranks, if the table has no label, a label is not
/// allowed, a weight is not finite, or the weights do not sum to more than zero. `what` names the table in messages
/// ("training", "validation").
WeightedLabels weigh_labels(const Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const LabelRules& rules, const char* what, const comm::Communicator& comm);

}  // namespace podere::table
