#include "podere/tree/grow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "podere/base/hash.h"
#include "podere/tree/predict.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

/// Regression trees straight from the definition: every cut between neighboring values of every feature is tried, and
/// sums are computed over the rows. Nodes are numbered level by level.
Tree plain_tree(const table::Table& table, const std::vector<double>& g, const Options& options) {
  struct Work {
    std::size_t node;
    std::vector<std::size_t> rows;
  };
  Tree tree;
  tree.nodes.emplace_back();
  std::vector<std::size_t> all(table.n_rows());
  std::iota(all.begin(), all.end(), 0);
  std::vector<Work> level{{0, all}};
  const auto score = [&](double sum, double n) { return sum * sum / (n + options.lambda); };
  for (int depth = 0; !level.empty(); ++depth) {
    std::vector<Work> next;
    for (const Work& work : level) {
      double g_all = 0;
      for (const std::size_t row : work.rows) g_all += g[row];
      const auto n_all = static_cast<double>(work.rows.size());
      double best_gain = 0;
      std::size_t best_feature = 0;
      float best_threshold = 0;
      for (std::size_t j = 0; depth < options.depth && j < table.n_features(); ++j) {
        std::map<float, std::pair<double, double>> sums;  // of all rows of the table: cuts lie between all values
        for (std::size_t row = 0; row < table.n_rows(); ++row) sums[table.feature(j)[row]];
        for (const std::size_t row : work.rows) {
          sums[table.feature(j)[row]].first += g[row];
          sums[table.feature(j)[row]].second += 1;
        }
        double g_left = 0;
        double n_left = 0;
        for (auto it = sums.begin(); std::next(it) != sums.end(); ++it) {
          g_left += it->second.first;
          n_left += it->second.second;
          if (n_left < std::max(1.0, options.min_child_weight) ||
              n_all - n_left < std::max(1.0, options.min_child_weight))
            continue;
          const double gain = score(g_left, n_left) + score(g_all - g_left, n_all - n_left) - score(g_all, n_all);
          if (gain > best_gain + 1e-9) {
            best_gain = gain;
            best_feature = j;
            best_threshold = it->first / 2 + std::next(it)->first / 2;
          }
        }
      }
      Node& node = tree.nodes[work.node];
      node.cover = static_cast<float>(n_all);
      if (best_gain <= options.min_gain) {
        node.value = static_cast<float>(-options.learning_rate * g_all / (n_all + options.lambda));
        continue;
      }
      node.feature = static_cast<std::int32_t>(best_feature);
      node.threshold = best_threshold;
      node.gain = static_cast<float>(best_gain);
      node.left = static_cast<std::int32_t>(tree.nodes.size());
      Work left{tree.nodes.size(), {}};
      Work right{tree.nodes.size() + 1, {}};
      for (const std::size_t row : work.rows) {
        (table.feature(best_feature)[row] < best_threshold ? left : right).rows.push_back(row);
      }
      tree.nodes.resize(tree.nodes.size() + 2);
      next.push_back(left);
      next.push_back(right);
    }
    level = next;
  }
  return tree;
}

TEST(GrowTest, ATreeEqualsTheOneFromTheDefinition) {
  // With labels of +-1 that sum to zero every gradient is a whole number of quantization levels: nothing is rounded.
  const std::size_t n = 400;
  std::vector<std::vector<float>> features(3, std::vector<float>(n));
  std::vector<float> label(n);
  RandomSequence random(5, 0, 0);
  for (std::size_t i = 0; i < n; i += 2) {
    label[i] = 1;
    label[i + 1] = -1;
    for (std::size_t j = 0; j < 3; ++j) {
      features[j][i] = static_cast<float>(random.next() % 40);
      features[j][i + 1] = static_cast<float>(random.next() % 40 + (j == 1 ? 5 : 0));
    }
  }
  const table::Table table = make_table(features, label);
  std::vector<double> g(n);
  for (std::size_t i = 0; i < n; ++i) g[i] = -label[i];
  for (const double min_child_weight : {0.0, 20.0}) {
    for (const double min_gain : {0.0, 4.0}) {
      const Options options{.objective = Objective::kSquaredError,
                            .n_trees = 1,
                            .depth = 4,
                            .learning_rate = 0.5,
                            .lambda = 2,
                            .min_child_weight = min_child_weight,
                            .min_gain = min_gain};
      const Model model = train_alone(table, options);
      const Tree expected = plain_tree(table, g, options);
      ASSERT_EQ(model.trees[0].nodes.size(), expected.nodes.size());
      ASSERT_GT(expected.nodes.size(), 5);
      for (std::size_t i = 0; i < expected.nodes.size(); ++i) {
        const Node& node = model.trees[0].nodes[i];
        EXPECT_EQ(node.feature, expected.nodes[i].feature) << "node " << i;
        EXPECT_EQ(node.threshold, expected.nodes[i].threshold) << "node " << i;
        EXPECT_EQ(node.left, expected.nodes[i].left) << "node " << i;
        EXPECT_NEAR(node.value, expected.nodes[i].value, 1e-6) << "node " << i;
        EXPECT_NEAR(node.gain, expected.nodes[i].gain, 1e-3) << "node " << i;
        EXPECT_NEAR(node.cover, expected.nodes[i].cover, 1e-3) << "node " << i;
      }
    }
  }
}

TEST(GrowTest, AMissingValueGoesTheWayThatWasLearned) {
  // Missing values belong to the high label although, as numbers, they are nowhere.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> feature;
  std::vector<float> label;
  for (int i = 0; i < 300; ++i) {
    feature.push_back(i % 3 == 0 ? nan : static_cast<float>(i % 3));
    label.push_back(i % 3 == 1 ? 0.0F : 1.0F);
  }
  const table::Table table = make_table({feature}, label);
  const Model model = train_alone(
      table, {.objective = Objective::kSquaredError, .n_trees = 1, .depth = 2, .learning_rate = 1, .lambda = 0});
  const std::vector<float> predicted = predict(model, table, 1);
  for (std::size_t i = 0; i < label.size(); ++i) EXPECT_NEAR(predicted[i], label[i], 1e-5);
}

TEST(GrowTest, MissingAgainstPresentIsASplit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> feature;
  std::vector<float> label;
  for (int i = 0; i < 200; ++i) {
    feature.push_back(i % 2 == 0 ? nan : static_cast<float>(i));
    label.push_back(static_cast<float>(i % 2));
  }
  const Model model =
      train_alone(make_table({feature}, label), {.objective = Objective::kSquaredError, .n_trees = 1, .depth = 1});
  ASSERT_EQ(model.trees[0].nodes.size(), 3);
  EXPECT_FALSE(model.trees[0].nodes[0].missing_left);
  EXPECT_GT(model.trees[0].nodes[0].threshold, 199);
}

TEST(GrowTest, ConstantAndAllMissingColumnsAreTrainedAndNeverSplitOn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const table::Table useful = random_table({.n_rows = 500, .n_features = 1}, alone());
  const std::vector<float> x(useful.feature(0).begin(), useful.feature(0).end());
  const std::vector<float> y(useful.label().begin(), useful.label().end());
  const Model model = train_alone(make_table({std::vector<float>(500, 3.0F), x, std::vector<float>(500, nan)}, y),
                                  {.n_trees = 3, .depth = 3});
  const Importance used = importance(model);
  EXPECT_EQ(used.split[0], 0);
  EXPECT_GT(used.split[1], 0);
  EXPECT_EQ(used.split[2], 0);
}

TEST(GrowTest, LeavesNeverExceedTheirLimit) {
  const table::Table table = random_table({}, alone());
  for (const int max_leaves : {2, 3, 7, 20}) {
    const Model model = train_alone(table, {.n_trees = 3, .depth = 6, .max_leaves = max_leaves});
    for (const Tree& tree : model.trees) {
      EXPECT_EQ(std::count_if(tree.nodes.begin(), tree.nodes.end(), [](const Node& node) { return node.is_leaf(); }),
                max_leaves);
    }
  }
}

TEST(GrowTest, BestFirstAlwaysSplitsTheLeafThatGainsMost) {
  const table::Table table = random_table({.has_missing = true}, alone());
  const Options options{.n_trees = 3, .depth = 7, .max_leaves = 20, .best_first = true};
  const Model model = train_alone(table, options);
  // The whole first tree of that depth: what can be split, and what it gains.
  const Model whole = train_alone(table, {.n_trees = 1, .depth = 7});
  const Tree& tree = model.trees[0];
  const Tree& all = whole.trees[0];
  ASSERT_EQ(tree.nodes.size(), 39);
  ASSERT_GT(all.nodes.size(), 60);
  std::map<std::size_t, std::size_t> open{{0, 0}};  // leaves so far, and the same nodes in the whole tree
  for (std::size_t n_nodes = 1; n_nodes < tree.nodes.size(); n_nodes += 2) {
    const auto best = std::ranges::max_element(
        open, [&](const auto& a, const auto& b) { return all.nodes[a.second].gain < all.nodes[b.second].gain; });
    const auto [n, same] = *best;
    EXPECT_EQ(tree.nodes[n].feature, all.nodes[same].feature);
    EXPECT_EQ(tree.nodes[n].threshold, all.nodes[same].threshold);
    ASSERT_EQ(tree.nodes[n].left, n_nodes);
    open.erase(best);
    for (const std::size_t side : {0, 1}) open[n_nodes + side] = static_cast<std::size_t>(all.nodes[same].left) + side;
  }
  for (const auto& [n, same] : open) EXPECT_TRUE(tree.nodes[n].is_leaf());
}

TEST(GrowTest, BestFirstWithRoomForAllIsTheTreeByLevels) {
  const table::Table table = random_table({.n_rows = 2000}, alone());
  const auto leaves = [&](const Options& options) {
    std::vector<float> values;
    const Model model = train_alone(table, options);
    for (const Node& node : model.trees[0].nodes) {
      if (node.is_leaf()) values.push_back(node.value);
    }
    std::ranges::sort(values);
    return values;
  };
  EXPECT_EQ(leaves({.n_trees = 1, .depth = 6, .max_leaves = 1000, .best_first = true}),
            leaves({.n_trees = 1, .depth = 6}));
}

TEST(GrowTest, BestFirstFitsBetterThanLevelsWithAsManyLeaves) {
  const table::Table table = random_table({.n_rows = 20'000}, alone());
  const auto loss = [&](int depth, bool best_first) {
    return train_alone(table, {.n_trees = 10, .depth = depth, .max_leaves = 32, .best_first = best_first})
        .history.train_loss.back();
  };
  EXPECT_LT(loss(30, true), loss(5, false));
}

TEST(GrowTest, ColumnSubsamplingLeavesOtherFeaturesOutOfATree) {
  const table::Table table = random_table({.n_features = 10}, alone());
  const Model model = train_alone(table, {.n_trees = 12, .depth = 5, .column_subsample = 0.2});
  std::vector<int> used_by(10);
  for (const Tree& tree : model.trees) {
    std::vector<int> used(10);
    for (const Node& node : tree.nodes) {
      if (!node.is_leaf()) used[static_cast<std::size_t>(node.feature)] = 1;
    }
    EXPECT_LE(std::accumulate(used.begin(), used.end(), 0), 2);
    for (std::size_t j = 0; j < 10; ++j) used_by[j] += used[j];
  }
  EXPECT_GT(std::count_if(used_by.begin(), used_by.end(), [](int n) { return n > 0; }), 4);
}

}  // namespace
}  // namespace podere::tree
