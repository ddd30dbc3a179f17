#include "podere/tree/finish_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "podere/tree/predict.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

/// The leaf of each row, walked to by thresholds.
std::vector<std::size_t> leaf_of_each_row(const Tree& tree, const table::Table& table) {
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    std::size_t n = 0;
    while (!tree.nodes[n].is_leaf()) {
      const Node& node = tree.nodes[n];
      const float x = table.feature(static_cast<std::size_t>(node.feature))[i];
      n = static_cast<std::size_t>(node.left) + ((x < node.threshold || (x != x && node.missing_left)) ? 0 : 1);
    }
    leaves.push_back(n);
  }
  return leaves;
}

/// The least value, of those that have weight, up to which the weights reach q of their sum.
float plain_leaf_quantile(std::vector<std::pair<float, double>> values, double q) {
  std::ranges::sort(values);
  double total = 0;
  for (const auto& [value, weight] : values) total += weight;
  double sum = 0;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (weight > 0 && sum >= q * total) return value;
  }
  return 0;
}

TEST(FinishTreeTest, LeavesOfAQuantileHoldTheQuantileOfWhatIsLeftOver) {
  table::Table table = random_table({.n_rows = 2000, .objective = Objective::kQuantile, .has_missing = true}, alone());
  const std::vector<float> column(table.feature(0).begin(), table.feature(0).end());
  std::vector<float> weight;
  std::vector<float> label(table.label().begin(), table.label().end());
  for (std::size_t i = 0; i < label.size(); ++i) weight.push_back(static_cast<float>(i % 4) / 2);
  const table::Table weighted = make_table({column}, label, weight);
  for (const double q : {0.05, 0.5, 0.8}) {
    const Options options{
        .objective = Objective::kQuantile, .quantile = q, .n_trees = 3, .depth = 3, .learning_rate = 0.5};
    const Model model = train_alone(weighted, options);
    std::vector<std::pair<float, double>> all;
    for (std::size_t i = 0; i < label.size(); ++i) all.emplace_back(label[i], weight[i]);
    EXPECT_EQ(model.base_margin[0], plain_leaf_quantile(all, q));
    std::vector<float> margins(label.size(), static_cast<float>(model.base_margin[0]));
    for (const Tree& tree : model.trees) {
      ASSERT_GT(tree.nodes.size(), 3);
      const std::vector<std::size_t> leaves = leaf_of_each_row(tree, weighted);
      std::map<std::size_t, std::vector<std::pair<float, double>>> residuals;
      for (std::size_t i = 0; i < label.size(); ++i)
        residuals[leaves[i]].emplace_back(label[i] - margins[i], weight[i]);
      for (const auto& [leaf, values] : residuals)
        EXPECT_EQ(tree.nodes[leaf].value, 0.5F * plain_leaf_quantile(values, q));
      for (std::size_t i = 0; i < label.size(); ++i) margins[i] += tree.nodes[leaves[i]].value;
    }
  }
}

TEST(FinishTreeTest, LeavesOfPoissonAreNewtonsStepsWithinTheirLimit) {
  // A few large counts ask for a step of 9.
  std::vector<float> feature;
  std::vector<float> label;
  for (int i = 0; i < 400; ++i) {
    feature.push_back(static_cast<float>(i % 4));
    label.push_back(i % 4 == 3 ? 800.0F : static_cast<float>(i % 4));
  }
  const table::Table table = make_table({feature}, label);
  const Options options{.objective = Objective::kPoisson, .max_delta_step = 0.5, .n_trees = 1, .depth = 2, .lambda = 3};
  const Model model = train_alone(table, options);
  const double mean = 803.0 / 4;
  EXPECT_NEAR(model.base_margin[0], std::log(mean), 1e-12);
  const std::vector<float> margins = predict_margins(model, table, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const double step = 100 * (label[i] - mean) / (100 * mean * std::exp(0.5) + 3);
    EXPECT_NEAR(margins[i], model.base_margin[0] + 0.1 * std::clamp(step, -0.5, 0.5), 1e-5) << i;
  }
  EXPECT_NEAR(margins[3], model.base_margin[0] + 0.05, 1e-6);
}

TEST(FinishTreeTest, ALeafWhoseWeightsSumToZeroOrBelowSaysNothing) {
  // Feature 0 separates three groups, whose weights sum to 100, 0 and -20.
  std::vector<float> feature;
  std::vector<float> label;
  std::vector<float> weight;
  for (int i = 0; i < 300; ++i) {
    feature.push_back(static_cast<float>(i % 3));
    label.push_back(static_cast<float>((i / 3) % 2));
    weight.push_back(i % 3 == 0 ? 1.0F : i % 3 == 1 ? (i < 150 ? 1.0F : -1.0F) : -0.2F);
  }
  const table::Table table = make_table({feature, feature}, label, weight);
  for (const Objective objective : {Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kSoftmax,
                                    Objective::kPoisson, Objective::kQuantile}) {
    const Model model =
        train_alone(table, {.objective = objective, .n_trees = 5, .depth = 4, .lambda = 0, .min_child_weight = 0});
    for (const Tree& tree : model.trees) {
      for (const Node& node : tree.nodes) {
        EXPECT_TRUE(std::isfinite(node.value) && std::isfinite(node.gain)) << to_string(objective);
        // Splits are found on rounded sums, in which such a leaf may weigh a little.
        if (node.is_leaf() && node.cover <= 0) {
          EXPECT_EQ(node.value, 0) << to_string(objective);
        }
      }
    }
  }
}

}  // namespace
}  // namespace podere::tree
