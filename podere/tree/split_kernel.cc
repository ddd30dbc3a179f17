#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/split_kernel.cc"
#include "podere/tree/split_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

/// scores[b] of the split after bin b, left[b] being what goes left; -1 where a child is too light.
///
/// Splits of one node are ranked by  (G_L - G (H_L + lambda) / S)^2 / ((H_L + lambda) (H_R + lambda)),  S = H + 2
/// lambda, in units of the sums: that is their gain but for a factor and a term that all of them share. Without the
/// cancellation of the gain itself, floats do, and so twice as many fit a vector.
void ScoreSplits(const std::int64_t* left, std::size_t n, std::int64_t total, float lambda, std::int32_t least_h,
                 float* scores) {
  const CellSums all = unpack_cell(total);
  const float denominators = static_cast<float>(all.h) + 2 * lambda;
  const float mean = static_cast<float>(all.g) / denominators;
  for (std::size_t b = 0; b < n; ++b) {
    const CellSums l = unpack_cell(left[b]);
    const std::int32_t h_right = all.h - l.h;
    const float d_left = static_cast<float>(l.h) + lambda;
    const float d_right = static_cast<float>(h_right) + lambda;
    const float excess = static_cast<float>(l.g) - mean * d_left;
    const float score = excess * excess / (d_left * d_right);
    const bool is_allowed = (l.h >= least_h) & (h_right >= least_h);
    scores[b] = is_allowed ? score : -1.0F;
  }
}

/// The largest of scores [n], or -1.
float Largest(const float* scores, std::size_t n) {
  constexpr std::size_t kLanes = 16;
  float lanes[kLanes];
  for (float& lane : lanes) lane = -1;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
  }
  for (; i < n; ++i) lanes[0] = scores[i] > lanes[0] ? scores[i] : lanes[0];
  float largest = -1;
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

/// Where `score` first is among scores [n].
std::size_t PositionOf(float score, const float* scores, std::size_t n) {
  constexpr std::size_t kLanes = 16;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    int any = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) any |= scores[i + lane] == score ? 1 : 0;
    if (any != 0) break;
  }
  while (scores[i] != score) ++i;
  return i;
}

void SubtractCells(std::int64_t* minuend, const std::int64_t* subtrahend, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) minuend[i] -= subtrahend[i];
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "podere/tree/category_split.h"

namespace podere::tree {
namespace {

HWY_EXPORT(ScoreSplits);
HWY_EXPORT(Largest);
HWY_EXPORT(PositionOf);
HWY_EXPORT(SubtractCells);

/// The least H of a child, in units: at least min_child_weight, and above 0.
std::int32_t least_h(const SplitRule& rule) {
  const double units = std::ceil(rule.min_child_weight / rule.h_unit);
  return static_cast<std::int32_t>(
      std::clamp(units, 1.0, static_cast<double>(std::numeric_limits<std::int32_t>::max())));
}

double gain_of(std::int64_t left, std::int64_t total, const SplitRule& rule) {
  const auto score = [&](std::int64_t cell) {
    const CellSums sums = unpack_cell(cell);
    const double g = sums.g * rule.g_unit;
    return g * g / (sums.h * rule.h_unit + rule.lambda);
  };
  return score(left) + score(total - left) - score(total);
}

/// The best of the splits after value bins 0 .. n-1, left[b] being what goes left.
Split scan(std::span<const std::int64_t> left, std::int64_t total, bool missing_left, const SplitRule& rule) {
  std::array<float, kMaxBins> scores;
  const auto lambda = static_cast<float>(rule.lambda / rule.h_unit);
  HWY_DYNAMIC_DISPATCH(ScoreSplits)(left.data(), left.size(), total, lambda, least_h(rule), scores.data());
  const float largest = HWY_DYNAMIC_DISPATCH(Largest)(scores.data(), left.size());
  if (largest < 0) return {};
  const std::size_t bin = HWY_DYNAMIC_DISPATCH(PositionOf)(largest, scores.data(), left.size());
  const std::int64_t left_cell = left[bin];
  return {.gain = gain_of(left_cell, total, rule),
          .left_cell = left_cell,
          .feature = -1,
          .bin = static_cast<std::int16_t>(bin),
          .missing_left = missing_left};
}

}  // namespace

Split best_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts, std::int32_t feature,
                 const SplitRule& rule) {
  if (cuts.is_categorical) return best_category_split(cells, total, cuts, feature, rule);
  const std::size_t n = cuts.cuts.size();
  if (n == 0 || !(rule.h_unit > 0) || unpack_cell(total).h <= 0) return {};

  std::array<std::int64_t, kMaxBins> left;
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < n; ++b) left[b] = sum += cells[b];
  const std::span<std::int64_t> sums(left.data(), n);

  Split best = scan(sums, total, false, rule);
  if (cuts.has_missing) {
    const std::int64_t missing = cells[static_cast<std::size_t>(cuts.missing_bin())];
    for (std::int64_t& cell : sums) cell += missing;
    const Split other = scan(sums, total, true, rule);
    if (other.gain > best.gain) best = other;
  }
  if (!(best.gain > 0)) return {};
  best.feature = feature;
  return best;
}

void subtract_cells(std::span<std::int64_t> minuend, std::span<const std::int64_t> subtrahend) {
  HWY_DYNAMIC_DISPATCH(SubtractCells)(minuend.data(), subtrahend.data(), minuend.size());
}

}  // namespace podere::tree
#endif
