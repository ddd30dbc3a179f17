#include "podere/tree/category_split.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "podere/base/hash.h"
#include "podere/tree/quantize.h"

namespace podere::tree {
namespace {

/// The largest gain of all ways to part the cells in two.
double best_gain_of_all(std::span<const std::int64_t> cells, const SplitRule& rule) {
  const auto score = [&](double g, double h) { return g * g / (h + rule.lambda); };
  const auto g = [&](std::int64_t cell) { return unpack_cell(cell).g * rule.g_unit; };
  const auto h = [&](std::int64_t cell) { return unpack_cell(cell).h * rule.h_unit; };
  const std::int64_t total = std::accumulate(cells.begin(), cells.end(), std::int64_t{0});
  double best = 0;
  for (std::uint32_t set = 0; set < (1U << cells.size()); ++set) {
    std::int64_t side = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) side += (set >> i & 1U) != 0 ? cells[i] : 0;
    if (h(side) <= 0 || h(total - side) <= 0) continue;
    best =
        std::max(best, score(g(side), h(side)) + score(g(total - side), h(total - side)) - score(g(total), h(total)));
  }
  return best;
}

struct RandomCells {
  FeatureCuts cuts;
  std::vector<std::int64_t> cells;
  std::int64_t total = 0;
};

RandomCells random_cells(RandomSequence& random, std::size_t n_own) {
  RandomCells made{.cuts = {.cuts = {}, .has_missing = random.next() % 2 == 0, .is_categorical = true}, .cells = {}};
  for (std::size_t code = 0; code < n_own; ++code) made.cuts.cuts.push_back(static_cast<float>(code));
  for (int b = 0; b < made.cuts.n_bins(); ++b) {
    const bool is_empty = random.next() % 4 == 0;
    const auto g = static_cast<std::int64_t>(random.next() % 2001) - 1000;
    const auto h = static_cast<std::int64_t>(1 + random.next() % 100);
    made.total += made.cells.emplace_back(is_empty ? 0 : pack_cell(g, h));
  }
  return made;
}

TEST(CategorySplitTest, NoSetOfCategoriesIsBetterThanTheOneFound) {
  RandomSequence random(3, 0, 0);
  for (int trial = 0; trial < 1000; ++trial) {
    const RandomCells made = random_cells(random, random.next() % 9);
    const SplitRule rule{.g_unit = 0.01, .h_unit = 0.02, .lambda = trial % 3 * 1.0};
    const Split found = best_split(made.cells, made.total, made.cuts, 0, rule);
    ASSERT_NEAR(found.gain, best_gain_of_all(made.cells, rule), 1e-6) << "trial " << trial;
  }
}

TEST(CategorySplitTest, SidesAreWhatTheSplitSays) {
  RandomSequence random(4, 0, 0);
  for (int trial = 0; trial < 1000; ++trial) {
    const RandomCells made = random_cells(random, random.next() % 12);
    const SplitRule rule{.g_unit = 0.01, .h_unit = 0.02, .lambda = 1, .min_child_weight = 0.5, .noise = 0.3};
    const Split split = best_split(made.cells, made.total, made.cuts, 5, rule);
    if (!split.is_found()) continue;
    const std::size_t other = made.cuts.cuts.size();
    std::int64_t left = split.missing_left && made.cuts.has_missing ? made.cells.back() : 0;
    std::size_t n_left = 0;
    for (std::size_t bin = 0; bin <= other; ++bin) {
      EXPECT_TRUE(made.cells[bin] != 0 || split.value_goes_left(bin)) << "what the node does not have goes left";
      if (!split.value_goes_left(bin)) continue;
      left += made.cells[bin];
      n_left += made.cells[bin] != 0 ? 1 : 0;
    }
    EXPECT_EQ(split.left_cell, left) << "trial " << trial;
    EXPECT_EQ(split.feature, 5);
    EXPECT_TRUE(split.value_goes_left(other)) << "categories without a name cannot be named";
    EXPECT_TRUE(made.cells[other] != 0 || n_left >= split.right_bins.count());
    EXPECT_GE(unpack_cell(left).h * rule.h_unit, 0.5);
    EXPECT_GE(unpack_cell(made.total - left).h * rule.h_unit, 0.5);
    EXPECT_EQ(category_set(split, made.cuts).size(), split.right_bins.count());
  }
}

/// The mean gain of the best sets of categories whose G has variance H, over many draws. `hessian(code)` is in units.
template <typename Hessian>
double mean_gain_by_chance(std::size_t n_categories, double noise, Hessian&& hessian) {
  RandomSequence random(8, 0, 0);
  constexpr int kTrials = 2000;
  double sum = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    FeatureCuts cuts{.cuts = {}, .has_missing = false, .is_categorical = true};
    std::vector<std::int64_t> cells;
    for (std::size_t code = 0; code < n_categories; ++code) {
      double normal = -6;  // twelve uniforms
      for (int i = 0; i < 12; ++i) normal += random.uniform();
      const std::int64_t h = hessian(code);
      cuts.cuts.push_back(static_cast<float>(code));
      cells.push_back(pack_cell(std::llround(1000 * normal * std::sqrt(static_cast<double>(h) / 1000)), h));
    }
    cells.push_back(0);
    const std::int64_t total = std::accumulate(cells.begin(), cells.end(), std::int64_t{0});
    const SplitRule rule{.g_unit = 0.001, .h_unit = 0.001, .noise = noise};
    sum += best_split(cells, total, cuts, 0, rule).gain;
  }
  return sum / kTrials;
}

TEST(CategorySplitTest, WhatIsSubtractedIsTheGainOfMeaninglessCategories) {
  const auto alike = [](std::size_t) { return std::int64_t{5000}; };
  EXPECT_NEAR(mean_gain_by_chance(100, 0, alike), 2 / std::numbers::pi * 99, 2);
  EXPECT_LT(mean_gain_by_chance(100, 1, alike), 5);
  const auto rising = [](std::size_t code) { return static_cast<std::int64_t>(100 * (1 + code)); };
  double roots = 0;
  for (std::size_t code = 0; code < 100; ++code) roots += std::sqrt(rising(code));
  EXPECT_NEAR(mean_gain_by_chance(100, 0, rising), 2 / std::numbers::pi * (roots * roots / 505000 - 1), 3);
  EXPECT_LT(mean_gain_by_chance(100, 1, rising), 5);
}

TEST(CategorySplitTest, NegativeHessiansAreNoTrouble) {
  RandomSequence random(6, 0, 0);
  for (int trial = 0; trial < 300; ++trial) {
    RandomCells made = random_cells(random, 8);
    for (std::int64_t& cell : made.cells) {
      if (random.next() % 3 != 0) continue;
      made.total -= cell;
      made.total += cell = pack_cell(10, -static_cast<std::int64_t>(random.next() % 50));
    }
    const SplitRule rule{.g_unit = 1, .h_unit = 1, .lambda = 0, .noise = trial % 2 * 1.0};
    const Split split = best_split(made.cells, made.total, made.cuts, 0, rule);
    EXPECT_TRUE(std::isfinite(split.gain));
    if (!split.is_found()) continue;
    EXPECT_GT(unpack_cell(split.left_cell).h, 0);
    EXPECT_GT(unpack_cell(made.total - split.left_cell).h, 0);
  }
}

TEST(CategorySplitTest, OneCategoryAloneIsNotSplit) {
  const SplitRule rule{.g_unit = 1, .h_unit = 1, .lambda = 1};
  const std::vector<std::int64_t> cells{pack_cell(5, 5), 0, 0};
  const FeatureCuts cuts{.cuts = {3}, .has_missing = true, .is_categorical = true};
  EXPECT_FALSE(best_split(cells, pack_cell(5, 5), cuts, 0, rule).is_found());
}

}  // namespace
}  // namespace podere::tree
