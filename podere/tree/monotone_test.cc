#include "podere/tree/monotone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "podere/base/hash.h"
#include "podere/tree/predict.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

struct Histogram {
  FeatureCuts cuts;
  std::vector<std::int64_t> cells;
  std::int64_t total = 0;
};

Histogram random_histogram(RandomSequence& random) {
  Histogram result;
  const std::size_t n_cuts = 1 + random.next() % 30;
  for (std::size_t b = 0; b < n_cuts; ++b) result.cuts.cuts.push_back(static_cast<float>(b));
  result.cuts.has_missing = random.next() % 2 == 0;
  for (int b = 0; b < result.cuts.n_bins(); ++b) {
    const auto h = static_cast<std::int64_t>(random.next() % 1000);
    result.cells.push_back(pack_cell(static_cast<std::int64_t>(random.next() % 2001) - 1000, h));
    result.total += result.cells.back();
  }
  return result;
}

const SplitRule kRule{.g_unit = 0.01, .h_unit = 0.02, .lambda = 1.5, .min_child_weight = 3};

TEST(MonotoneSplitTest, WithoutConstraintIsTheBestSplit) {
  RandomSequence random(1, 0, 0);
  for (int i = 0; i < 500; ++i) {
    const Histogram h = random_histogram(random);
    const Split expected = best_split(h.cells, h.total, h.cuts, 4, kRule);
    const Split found = best_bounded_split(h.cells, h.total, h.cuts, 4, kRule, 0, {});
    EXPECT_EQ(found.feature, expected.feature);
    EXPECT_NEAR(found.gain, expected.gain, 1e-6 * std::max(1.0, expected.gain));
  }
}

TEST(MonotoneSplitTest, ChildrenAreInOrderAndWithinBounds) {
  RandomSequence random(2, 0, 0);
  int n_found = 0;
  for (int i = 0; i < 500; ++i) {
    const Histogram h = random_histogram(random);
    const ValueBounds bounds{-0.3, 0.2};
    const int sign = i % 2 == 0 ? 1 : -1;
    const Split split = best_bounded_split(h.cells, h.total, h.cuts, 4, kRule, sign, bounds);
    if (!split.is_found()) continue;
    ++n_found;
    const double left = bounded_value(split.left_cell, bounds, kRule);
    const double right = bounded_value(h.total - split.left_cell, bounds, kRule);
    EXPECT_LE(sign * left, sign * right);
    EXPECT_TRUE(-0.3 <= std::min(left, right) && std::max(left, right) <= 0.2);
    const auto [below_left, below_right] = bounds_below(bounds, sign, left, right);
    EXPECT_LE(sign > 0 ? below_left.upper : below_right.upper, sign > 0 ? below_right.lower : below_left.lower);
  }
  EXPECT_GT(n_found, 100);
}

TEST(MonotoneSplitTest, TheGainIsThatOfTheValues) {
  // By hand, units of 1, lambda 0: G_L = 6 and G_R = -2, of H = 2 each. Values are -3 and 1, within bounds -1 and 1.
  const SplitRule rule{.g_unit = 1, .h_unit = 1, .lambda = 0, .min_child_weight = 0};
  const FeatureCuts cuts{.cuts = {0.5F}};
  const std::vector<std::int64_t> cells{pack_cell(6, 2), pack_cell(-2, 2)};
  const std::int64_t total = cells[0] + cells[1];
  // -(2 * 6 * -1 + 2) = 10, -(2 * -2 * 1 + 2) = 2; unsplit, G = 4 and H = 4, the value is -1: -(2 * 4 * -1 + 4) = 4.
  EXPECT_DOUBLE_EQ(best_bounded_split(cells, total, cuts, 0, rule, 1, {-1, 1}).gain, 8);
  EXPECT_FALSE(best_bounded_split(cells, total, cuts, 0, rule, -1, {-1, 1}).is_found());
  EXPECT_DOUBLE_EQ(best_bounded_split(cells, total, cuts, 0, rule, 0, {}).gain, 18 + 2 - 4);
}

/// A random tree on `n_features`, with thresholds in (0, 1).
Tree random_tree(RandomSequence& random, std::size_t n_features, std::size_t n_splits) {
  Tree tree;
  tree.nodes.resize(1);
  while (tree.nodes.size() < 2 * n_splits + 1) {
    const std::size_t n = random.next() % tree.nodes.size();
    if (!tree.nodes[n].is_leaf()) continue;
    tree.nodes[n].feature = static_cast<std::int32_t>(random.next() % n_features);
    tree.nodes[n].threshold = static_cast<float>(random.uniform());
    tree.nodes[n].missing_left = random.next() % 2 == 0;
    tree.nodes[n].left = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes.resize(tree.nodes.size() + 2);
  }
  for (Node& node : tree.nodes) {
    node.value = static_cast<float>(2 * random.uniform() - 1);
    node.cover = static_cast<float>(random.uniform() * 10 - 1);  // some are negative
  }
  return tree;
}

/// Expects that margins never break `signs` where one feature of a random row takes all of many values, others being
/// missing at times.
void expect_monotone(const Model& model, const std::vector<std::int8_t>& signs, std::uint64_t seed) {
  constexpr std::size_t kPoints = 25;
  constexpr std::size_t kSteps = 40;
  RandomSequence random(seed, 1, 0);
  for (std::size_t j = 0; j < signs.size(); ++j) {
    std::vector<std::vector<float>> features(signs.size());
    for (std::size_t point = 0; point < kPoints; ++point) {
      for (std::vector<float>& feature : features) {
        const float value = static_cast<float>(2 * random.uniform() - 1);
        feature.insert(feature.end(), kSteps, random.uniform() < 0.1 ? NAN : value);
      }
      const auto steps = std::span(features[j]).last(kSteps);
      for (float& value : steps) value = static_cast<float>(3 * random.uniform() - 1.5);
      std::ranges::sort(steps);
    }
    const std::vector<float> margins =
        predict_margins(model, make_table(features, std::vector<float>(kPoints * kSteps)), 1);
    for (std::size_t point = 0; point < kPoints; ++point) {
      const auto steps = std::span(margins).subspan(point * kSteps, kSteps);
      ASSERT_TRUE(signs[j] <= 0 || std::ranges::is_sorted(steps)) << "feature " << j;
      ASSERT_TRUE(signs[j] >= 0 || std::ranges::is_sorted(steps, std::greater())) << "feature " << j;
    }
  }
}

TEST(MonotoneTest, AnyTreeBecomesMonotone) {
  RandomSequence random(3, 0, 0);
  const std::vector<std::int8_t> signs{1, -1, 0, 1};
  for (std::uint64_t i = 0; i < 50; ++i) {
    Model model{.schema = numbered_schema(4, false), .options = {}, .base_margin = {0.1}, .trees = {}, .history = {}};
    for (int t = 0; t < 3; ++t) {
      model.trees.push_back(random_tree(random, 4, 1 + random.next() % 40));
      make_monotone(signs, model.trees.back());
    }
    expect_monotone(model, signs, i);
  }
}

TEST(MonotoneTest, ATreeInOrderStaysAsItIs) {
  Tree tree{
      .nodes = {{.threshold = 0.5F, .feature = 0, .left = 1}, {.value = -1, .cover = 1}, {.value = 2, .cover = 5}},
      .category_sets = {}};
  const Tree before = tree;
  make_monotone(std::vector<std::int8_t>{1}, tree);
  EXPECT_EQ(tree, before);
  make_monotone(std::vector<std::int8_t>{-1}, tree);
  EXPECT_EQ(tree.nodes[1].value, 0.5F);
  EXPECT_EQ(tree.nodes[2].value, 0.5F);
}

TEST(MonotoneTest, TrainedModelsAreMonotoneOnAnyTable) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Objective objective = std::array{Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kQuantile,
                                           Objective::kPoisson}[seed % 4];
    // x1 counts with its magnitude and x4 too: constraints go against what the table says.
    const table::Table table = random_table({.n_rows = 300 + 150 * seed,
                                             .n_features = 5,
                                             .objective = objective,
                                             .has_missing = seed % 3 == 0,
                                             .has_weight = seed % 5 == 1,
                                             .seed = seed},
                                            alone());
    const Options options{.objective = objective,
                          .n_trees = 15,
                          .depth = 7,
                          .max_leaves = seed % 3 == 1 ? 20 : 0,
                          .best_first = seed % 3 == 1,
                          .learning_rate = 0.5,
                          .lambda = seed % 5 == 0 ? 0.0 : 1.0,
                          .subsample = seed % 5 == 2 ? 0.6 : 1.0,
                          .seed = seed,
                          .monotone = "x0:+1,x1:-1,x3:+1,x4:-1"};
    const Model model = train_alone(table, options);
    expect_monotone(model, {1, -1, 0, 1, -1}, seed);
    EXPECT_LT(model.history.train_loss.back(), model.history.train_loss.front());
  }
}

TEST(MonotoneTest, AConstraintThatTheTableKeepsCostsLittle) {
  const table::Table table = random_table({.objective = Objective::kSquaredError}, alone());
  const auto loss_with = [&](const char* monotone) {
    const Options options{.objective = Objective::kSquaredError, .n_trees = 40, .depth = 5, .monotone = monotone};
    return train_alone(table, options).history.train_loss.back();
  };
  const double free = loss_with("");
  EXPECT_LT(loss_with("x0:+1"), 1.15 * free);
  EXPECT_GT(loss_with("x0:-1"), 2 * free);  // the feature that says most may not be used
}

}  // namespace
}  // namespace podere::tree
