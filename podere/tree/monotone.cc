#include "podere/tree/monotone.h"

#include <algorithm>
#include <vector>

namespace podere::tree {
namespace {

/// -(2 G w + (H + lambda) w^2)
double gain_of_value(std::int64_t cell, double value, const SplitRule& rule) {
  const CellSums sums = unpack_cell(cell);
  return -(2 * sums.g * rule.g_unit * value + (sums.h * rule.h_unit + rule.lambda) * value * value);
}

/// What it gains to split a node with these bounds so that `left` of its `total` goes left.
double bounded_gain(std::int64_t left, std::int64_t total, const ValueBounds& bounds, const SplitRule& rule) {
  const auto gain = [&](std::int64_t cell) { return gain_of_value(cell, bounded_value(cell, bounds, rule), rule); };
  return gain(left) + gain(total - left) - gain(total);
}

/// The best split by categories were there no bounds, with what it gains within them.
Split best_bounded_category_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts,
                                  std::int32_t feature, const SplitRule& rule, const ValueBounds& bounds) {
  Split split = best_split(cells, total, cuts, feature, rule);
  if (!split.is_found()) return {};
  split.gain += bounded_gain(split.left_cell, total, bounds, rule) - bounded_gain(split.left_cell, total, {}, rule);
  return split.gain > 0 ? split : Split();
}

bool is_heavy_enough(std::int64_t cell, const SplitRule& rule) {
  const std::int32_t h = unpack_cell(cell).h;
  return h > 0 && h * rule.h_unit >= rule.min_child_weight;
}

}  // namespace

std::pair<ValueBounds, ValueBounds> bounds_below(const ValueBounds& bounds, int sign, double left, double right) {
  std::pair both(bounds, bounds);
  const double middle = left / 2 + right / 2;
  if (sign > 0) both.first.upper = both.second.lower = middle;
  if (sign < 0) both.first.lower = both.second.upper = middle;
  return both;
}

double bounded_value(std::int64_t cell, const ValueBounds& bounds, const SplitRule& rule) {
  const CellSums sums = unpack_cell(cell);
  const double denominator = sums.h * rule.h_unit + rule.lambda;
  return std::clamp(denominator > 0 ? -sums.g * rule.g_unit / denominator : 0.0, bounds.lower, bounds.upper);
}

Split best_bounded_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts,
                         std::int32_t feature, const SplitRule& rule, int sign, const ValueBounds& bounds) {
  if (cuts.is_categorical) return best_bounded_category_split(cells, total, cuts, feature, rule, bounds);
  if (!is_heavy_enough(total, rule)) return {};
  Split best;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !cuts.has_missing) break;
    std::int64_t left = missing_left ? cells[static_cast<std::size_t>(cuts.missing_bin())] : 0;
    for (std::size_t bin = 0; bin < cuts.cuts.size(); ++bin) {
      left += cells[bin];
      const std::int64_t right = total - left;
      if (!is_heavy_enough(left, rule) || !is_heavy_enough(right, rule)) continue;
      const double left_value = bounded_value(left, bounds, rule);
      const double right_value = bounded_value(right, bounds, rule);
      if (sign * left_value > sign * right_value) continue;
      const double gain = bounded_gain(left, total, bounds, rule);
      if (!(gain > best.gain)) continue;
      best = {.gain = gain,
              .left_cell = left,
              .feature = feature,
              .bin = static_cast<std::int16_t>(bin),
              .missing_left = missing_left,
              .is_categorical = false,
              .right_bins = {}};
    }
  }
  return best;
}

void make_monotone(std::span<const std::int8_t> signs, Tree& tree) {
  const std::size_t n = tree.nodes.size();
  std::vector<double> mean(n);
  std::vector<double> weight(n);  // negative weights of rows can leave a leaf with less than none
  for (std::size_t i = n; i-- > 0;) {
    const Node& node = tree.nodes[i];
    mean[i] = node.value;
    weight[i] = std::max<double>(node.cover, 0);
    if (node.is_leaf()) continue;
    const auto left = static_cast<std::size_t>(node.left);
    weight[i] = weight[left] + weight[left + 1];
    mean[i] = weight[i] > 0 ? (weight[left] * mean[left] + weight[left + 1] * mean[left + 1]) / weight[i]
                            : (mean[left] + mean[left + 1]) / 2;
  }
  std::vector<ValueBounds> bounds(n);
  for (std::size_t i = 0; i < n; ++i) {
    Node& node = tree.nodes[i];
    const ValueBounds& own = bounds[i];
    if (node.is_leaf()) {
      node.value = static_cast<float>(std::clamp<double>(node.value, own.lower, own.upper));
      continue;
    }
    const auto left = static_cast<std::size_t>(node.left);
    const auto within = [&](std::size_t child) { return std::clamp(mean[child], own.lower, own.upper); };
    std::tie(bounds[left], bounds[left + 1]) =
        bounds_below(own, signs[static_cast<std::size_t>(node.feature)], within(left), within(left + 1));
  }
}

}  // namespace podere::tree
