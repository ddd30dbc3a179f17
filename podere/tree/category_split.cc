#include "podere/tree/category_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace podere::tree {
namespace {

/// The categories that a node has, as bins, sorted.
struct Order {
  std::array<std::uint8_t, kMaxBins> bins;
  std::size_t size = 0;
  std::span<const std::uint8_t> first(std::size_t n) const { return std::span(bins).first(n); }
  std::span<const std::uint8_t> from(std::size_t n) const { return std::span(bins).subspan(n, size - n); }
};

Order present_bins(std::span<const std::int64_t> value_cells) {
  Order order;
  for (std::size_t b = 0; b < value_cells.size(); ++b) {
    if (value_cells[b] != 0) order.bins[order.size++] = static_cast<std::uint8_t>(b);
  }
  return order;
}

void sort_by_ratio(std::span<const std::int64_t> cells, Order& order) {
  std::array<double, kMaxBins> ratio;
  for (const std::uint8_t bin : order.first(order.size)) {
    const CellSums sums = unpack_cell(cells[bin]);
    ratio[bin] = sums.h > 0 ? static_cast<double>(sums.g) / sums.h : 0;  // negative weights can sum below zero
  }
  std::sort(order.bins.begin(), order.bins.begin() + static_cast<std::ptrdiff_t>(order.size),
            [&](auto a, auto b) { return ratio[a] != ratio[b] ? ratio[a] < ratio[b] : a < b; });
}

/// G_1^2 / (H_1 + lambda) + G_2^2 / (H_2 + lambda) of two sides, or -1 where one is too light.
double score(std::int64_t side, std::int64_t total, const SplitRule& rule) {
  double sum = 0;
  for (const std::int64_t cell : {side, total - side}) {
    const CellSums sums = unpack_cell(cell);
    const double g = sums.g * rule.g_unit;
    const double h = sums.h * rule.h_unit;
    if (!(h > 0 && h >= rule.min_child_weight)) return -1;
    sum += g * g / (h + rule.lambda);
  }
  return sum;
}

/// What the best set of categories that say nothing gains on average.
double gain_by_chance(std::span<const std::int64_t> cells, std::span<const std::uint8_t> bins, double noise) {
  double roots = 0;
  double sum = 0;
  for (const std::uint8_t bin : bins) {
    const double h = std::max(unpack_cell(cells[bin]).h, 0);
    roots += std::sqrt(h);
    sum += h;
  }
  const double n_alike = sum > 0 ? roots * roots / sum : 0;
  return noise * (2 / std::numbers::pi) * std::max(n_alike - 1, 0.0);
}

}  // namespace

Split best_category_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts,
                          std::int32_t feature, const SplitRule& rule) {
  const std::size_t other_bin = cuts.cuts.size();
  const std::int64_t missing = cuts.has_missing ? cells[static_cast<std::size_t>(cuts.missing_bin())] : 0;
  const CellSums all = unpack_cell(total);
  const double g = all.g * rule.g_unit;
  const double denominator = all.h * rule.h_unit + rule.lambda;
  if (!(denominator > 0)) return {};

  Order order = present_bins(cells.first(other_bin + 1));
  sort_by_ratio(cells, order);

  // One side has the first `n_first` categories, and the missing values or not.
  std::size_t n_first = 0;
  bool missing_is_first = false;
  std::int64_t first_cell = 0;
  const double least = g * g / denominator + gain_by_chance(cells, order.first(order.size), rule.noise);
  double best_score = least;
  std::int64_t sum = 0;
  for (std::size_t n = 1; n <= order.size; ++n) {
    sum += cells[order.bins[n - 1]];
    for (const bool with_missing : {false, true}) {
      if (with_missing && missing == 0) continue;
      const std::int64_t side = sum + (with_missing ? missing : 0);
      const double found = score(side, total, rule);
      if (!(found > best_score)) continue;
      best_score = found;
      n_first = n;
      missing_is_first = with_missing;
      first_cell = side;
    }
  }
  if (n_first == 0) return {};

  const bool has_other = cells[other_bin] != 0;
  const bool first_has_other = std::ranges::find(order.first(n_first), other_bin) != order.first(n_first).end();
  const bool first_goes_left = has_other ? first_has_other : 2 * n_first >= order.size;
  Split split{.gain = best_score - least,
              .left_cell = first_goes_left ? first_cell : total - first_cell,
              .feature = feature,
              .bin = 0,
              .missing_left = missing == 0 || missing_is_first == first_goes_left,
              .is_categorical = true,
              .right_bins = {}};
  for (const std::uint8_t bin : first_goes_left ? order.from(n_first) : order.first(n_first)) split.right_bins.set(bin);
  return split;
}

std::vector<std::int32_t> category_set(const Split& split, const FeatureCuts& cuts) {
  std::vector<std::int32_t> codes;
  for (std::size_t bin = 0; bin < cuts.cuts.size(); ++bin) {
    if (split.right_bins[bin]) codes.push_back(static_cast<std::int32_t>(cuts.cuts[bin]));
  }
  std::sort(codes.begin(), codes.end());
  return codes;
}

}  // namespace podere::tree
