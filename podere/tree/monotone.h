// Splits and leaf values under monotone constraints.
//
// Each node has bounds for the values of all leaves below it. A split on a constrained feature sets a bound between its
// children, half-way between their values: every leaf on one side is at most, every leaf on the other at least that. So
// two rows that part there, for they differ in this feature alone, are in order, whatever lies below. (The "basic"
// method of LightGBM, and that of XGBoost.) Missing values are neither above nor below others.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "podere/tree/model.h"
#include "podere/tree/split_kernel.h"

namespace podere::tree {

/// The least and the largest value of the leaves below a node.
struct ValueBounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool operator==(const ValueBounds&) const = default;
};

/// What may lie left and right of a split of a node with `bounds` on a feature with `sign` (constraints.h), where the
/// children themselves would have the values `left` and `right`.
std::pair<ValueBounds, ValueBounds> bounds_below(const ValueBounds& bounds, int sign, double left, double right);

/// -G / (H + lambda) of these sums, within the bounds.
double bounded_value(std::int64_t cell, const ValueBounds& bounds, const SplitRule& rule);

/// As best_split, for children whose values w stay within `bounds` of the node and in the order of `sign`. What they
/// gain is the fall of 2 G w + (H + lambda) w^2, which with no bounds is the gain of best_split. Of categories, which
/// know no `sign`, the sets are those of best_split.
Split best_bounded_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts,
                         std::int32_t feature, const SplitRule& rule, int sign, const ValueBounds& bounds);

/// Moves leaf values so that those of the whole tree keep the constraints `signs` [n_features], exactly. A node counts
/// as the mean of its leaves, by cover. What was split by quantized sums needs this for its exact leaf values.
void make_monotone(std::span<const std::int8_t> signs, Tree& tree);

}  // namespace podere::tree
