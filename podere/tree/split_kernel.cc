#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/split_kernel.cc"
#include "podere/tree/split_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

/// scores[b] = G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) of the split after bin b, or -1 where a child is too
/// light. left[b] is what goes left.
void ScoreSplits(const std::int64_t* left, std::size_t n, std::int64_t total, const SplitRule& rule, double* scores) {
  const CellSums all = unpack_cell(total);
  for (std::size_t b = 0; b < n; ++b) {
    const CellSums l = unpack_cell(left[b]);
    const double g_left = l.g * rule.g_unit;
    const double g_right = (all.g - l.g) * rule.g_unit;
    const double h_left = l.h * rule.h_unit;
    const double h_right = (all.h - l.h) * rule.h_unit;
    const double d_left = h_left + rule.lambda;
    const double d_right = h_right + rule.lambda;
    const double score = (g_left * g_left * d_right + g_right * g_right * d_left) / (d_left * d_right);
    const bool is_allowed =
        (h_left > 0) & (h_right > 0) & (h_left >= rule.min_child_weight) & (h_right >= rule.min_child_weight);
    scores[b] = is_allowed ? score : -1.0;
  }
}

/// The largest of scores [n].
double Largest(const double* scores, std::size_t n) {
  double lanes[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane)
      lanes[lane] = scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
  }
  for (; i < n; ++i) lanes[0] = scores[i] > lanes[0] ? scores[i] : lanes[0];
  double largest = lanes[0];
  for (const double lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

void SubtractCells(std::int64_t* minuend, const std::int64_t* subtrahend, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) minuend[i] -= subtrahend[i];
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <array>

namespace podere::tree {
namespace {

HWY_EXPORT(ScoreSplits);
HWY_EXPORT(Largest);
HWY_EXPORT(SubtractCells);

/// Takes the best of the splits after value bins 0 .. n-1 into `best` if it is better.
void scan(std::span<const std::int64_t> left, std::int64_t total, bool missing_left, const SplitRule& rule,
          double& best_score, Split& best) {
  std::array<double, kMaxBins> scores;
  HWY_DYNAMIC_DISPATCH(ScoreSplits)(left.data(), left.size(), total, rule, scores.data());
  const double largest = HWY_DYNAMIC_DISPATCH(Largest)(scores.data(), left.size());
  if (!(largest > best_score)) return;
  best_score = largest;
  const auto bin = std::find(scores.begin(), scores.end(), largest) - scores.begin();
  best.bin = static_cast<std::int16_t>(bin);
  best.missing_left = missing_left;
  best.left_cell = left[static_cast<std::size_t>(bin)];
}

}  // namespace

Split best_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts, std::int32_t feature,
                 const SplitRule& rule) {
  const std::size_t n = cuts.cuts.size();
  const CellSums all = unpack_cell(total);
  const double g = all.g * rule.g_unit;
  const double denominator = all.h * rule.h_unit + rule.lambda;
  if (n == 0 || !(denominator > 0)) return {};

  std::array<std::int64_t, kMaxBins> left;
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < n; ++b) left[b] = sum += cells[b];
  const std::span<std::int64_t> sums(left.data(), n);

  Split best;
  double best_score = g * g / denominator;  // of not splitting
  const double least = best_score;
  scan(sums, total, false, rule, best_score, best);
  if (cuts.has_missing) {
    const std::int64_t missing = cells[static_cast<std::size_t>(cuts.missing_bin())];
    for (std::int64_t& cell : sums) cell += missing;
    scan(sums, total, true, rule, best_score, best);
  }
  if (best_score > least) {
    best.gain = best_score - least;
    best.feature = feature;
  }
  return best;
}

void subtract_cells(std::span<std::int64_t> minuend, std::span<const std::int64_t> subtrahend) {
  HWY_DYNAMIC_DISPATCH(SubtractCells)(minuend.data(), subtrahend.data(), minuend.size());
}

}  // namespace podere::tree
#endif
