// The best split of one node by one feature.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <utility>

#include "podere/tree/cuts.h"
#include "podere/tree/options.h"
#include "podere/tree/quantize.h"

namespace podere::tree {

/// What a split is judged by, in the units of the quantized sums.
struct SplitRule {
  double g_unit = 0;
  double h_unit = 0;
  double lambda = 0;
  double min_child_weight = 0;
  double noise = 0;  ///< G^2 / H of a category on average, where categories say nothing
};

/// A split of a node: value bins up to and including `bin` go left; of categories, those that are not in `right_bins`.
struct Split {
  double gain = 0;             ///< 0: none was found
  std::int64_t left_cell = 0;  ///< G * 2^32 + H of the rows that go left
  std::int32_t feature = -1;
  std::int16_t bin = 0;
  bool missing_left = false;
  bool is_categorical = false;
  std::bitset<kMaxBins> right_bins;
  bool value_goes_left(std::size_t value_bin) const {
    return is_categorical ? !right_bins[value_bin] : std::cmp_less_equal(value_bin, bin);
  }
  bool is_found() const { return feature >= 0; }
};

/// Of two splits the one to take: higher gain, then lower feature. (Within a feature: lower bin, then missing right.)
inline bool is_better(const Split& a, const Split& b) {
  if (a.gain != b.gain) return a.gain > b.gain;
  return a.is_found() && (!b.is_found() || a.feature < b.feature);
}

/// The best split by a feature with these bins, by best_category_split for one of categories. `cells` [n_bins] are the
/// node's wide cells, `total` their sum over all bins. Both children must have H of at least min_child_weight and above
/// 0.
///
///   gain = G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) - G^2 / (H + lambda)
Split best_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts, std::int32_t feature,
                 const SplitRule& rule);

/// minuend[i] -= subtrahend[i]: the larger child's cells from the parent's and the smaller child's.
void subtract_cells(std::span<std::int64_t> minuend, std::span<const std::int64_t> subtrahend);

}  // namespace podere::tree
