#include "podere/tree/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "podere/base/hash.h"
#include "podere/tree/predict.h"
#include "podere/tree/streams.h"
#include "podere/tree/test_tables.h"

namespace podere::tree {
namespace {

Model train_alone(const table::Table& table, const Options& options, const table::Table* validation = nullptr) {
  Progress progress;
  return train(table, validation, options, alone(), 2, progress);
}

/// Regression trees straight from the definition: every cut between neighbouring values of every feature is tried, and
/// sums are taken over the rows. Nodes are numbered level by level.
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

TEST(TrainTest, ATreeEqualsTheOneFromTheDefinition) {
  // With labels of +-1 that sum to zero every gradient is a whole number of quantisation levels: nothing is rounded.
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

TEST(TrainTest, LossFallsWithEveryObjective) {
  for (const Objective objective : {Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kSoftmax,
                                    Objective::kPoisson, Objective::kQuantile}) {
    const table::Table table = random_table({.objective = objective, .has_missing = true}, alone());
    const Model model = train_alone(table, {.objective = objective, .n_trees = 20, .depth = 4});
    const std::vector<double>& loss = model.history.train_loss;
    ASSERT_EQ(loss.size(), 20);
    EXPECT_TRUE(std::is_sorted(loss.rbegin(), loss.rend())) << to_string(objective);
    EXPECT_LT(loss.back(), 0.7 * loss.front()) << to_string(objective);
  }
}

/// The leaf of each row, walked to by thresholds.
std::vector<std::size_t> leaves_of(const Tree& tree, const table::Table& table) {
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
float plain_quantile(std::vector<std::pair<float, double>> values, double q) {
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

TEST(TrainTest, LeavesOfAQuantileHoldTheQuantileOfWhatIsLeftOver) {
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
    EXPECT_EQ(model.base_margin[0], plain_quantile(all, q));
    std::vector<float> margins(label.size(), static_cast<float>(model.base_margin[0]));
    for (const Tree& tree : model.trees) {
      ASSERT_GT(tree.nodes.size(), 3);
      const std::vector<std::size_t> leaves = leaves_of(tree, weighted);
      std::map<std::size_t, std::vector<std::pair<float, double>>> residuals;
      for (std::size_t i = 0; i < label.size(); ++i)
        residuals[leaves[i]].emplace_back(label[i] - margins[i], weight[i]);
      for (const auto& [leaf, values] : residuals) EXPECT_EQ(tree.nodes[leaf].value, 0.5F * plain_quantile(values, q));
      for (std::size_t i = 0; i < label.size(); ++i) margins[i] += tree.nodes[leaves[i]].value;
    }
  }
}

TEST(TrainTest, LeavesOfPoissonAreNewtonsStepsWithinTheirLimit) {
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

TEST(TrainTest, ALeafWhoseWeightsSumToZeroOrBelowSaysNothing) {
  // Feature 0 tells three groups apart, whose weights sum to 100, 0 and -20.
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

TEST(TrainTest, HistoryHoldsTheLossOfThePredictions) {
  const table::Table table = random_table({.has_weight = true}, alone());
  const Model model = train_alone(table, {.n_trees = 5, .depth = 4});
  const std::vector<float> p = predict(model, table, 1);
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    sum -= table.weight()[i] * std::log(table.label()[i] == 1 ? p[i] : 1 - static_cast<double>(p[i]));
    weights += table.weight()[i];
  }
  EXPECT_NEAR(model.history.train_loss.back(), sum / weights, 1e-6);
}

TEST(TrainTest, AMissingValueGoesTheWayThatWasLearnt) {
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

TEST(TrainTest, MissingAgainstPresentIsASplit) {
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

TEST(TrainTest, AWeightOfTwoCountsAsTwoRows) {
  const table::Table once = random_table({.n_rows = 600}, alone());
  std::vector<std::vector<float>> features(once.n_features());
  std::vector<float> label;
  std::vector<std::vector<float>> plain(once.n_features());
  std::vector<float> plain_label;
  std::vector<float> weight;
  for (std::size_t i = 0; i < once.n_rows(); ++i) {
    const int copies = i % 2 == 0 ? 2 : 1;
    weight.push_back(static_cast<float>(copies));
    plain_label.push_back(once.label()[i]);
    for (std::size_t j = 0; j < once.n_features(); ++j) plain[j].push_back(once.feature(j)[i]);
    for (int copy = 0; copy < copies; ++copy) {
      label.push_back(once.label()[i]);
      for (std::size_t j = 0; j < once.n_features(); ++j) features[j].push_back(once.feature(j)[i]);
    }
  }
  const Options options{.n_trees = 1, .depth = 1};
  const Model weighted = train_alone(make_table(plain, plain_label, weight), options);
  const Model copied = train_alone(make_table(features, label), options);
  EXPECT_NEAR(weighted.base_margin[0], copied.base_margin[0], 1e-12);
  EXPECT_EQ(weighted.trees[0].nodes[0].feature, copied.trees[0].nodes[0].feature);
  EXPECT_NEAR(weighted.history.train_loss[0], copied.history.train_loss[0], 2e-3);
}

TEST(TrainTest, ClassWeightsMultiplyTheWeightsOfRows) {
  for (const Objective objective : {Objective::kBinaryLogistic, Objective::kSoftmax}) {
    const table::Table table = random_table({.n_rows = 1000, .objective = objective, .has_weight = true}, alone());
    table::Table multiplied = random_table({.n_rows = 1000, .objective = objective, .has_weight = true}, alone());
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      if (table.label()[i] == 0) multiplied.weight()[i] *= 0.5F;
      if (table.label()[i] == 1) multiplied.weight()[i] *= 3;
    }
    const Model expected = train_alone(multiplied, {.objective = objective, .n_trees = 3, .depth = 4});
    const Model found =
        train_alone(table, {.objective = objective, .class_weight = {0.5, 3}, .n_trees = 3, .depth = 4});
    EXPECT_EQ(found.trees, expected.trees);
    EXPECT_EQ(found.base_margin, expected.base_margin);
    EXPECT_EQ(found.history, expected.history);
    if (objective == Objective::kSoftmax) continue;
    const Model scaled = train_alone(table, {.class_weight = {0.5}, .scale_pos_weight = 3, .n_trees = 3, .depth = 4});
    EXPECT_EQ(scaled.trees, expected.trees);
  }
}

TEST(TrainTest, BalancedClassesWeighTheSame) {
  const table::Table table = make_table({{1, 2, 3, 4, 5, 6}}, {0, 0, 0, 3, 3, 1}, {1, 2, 3, 1, 1, 4});
  const Model model = train_alone(table, {.objective = Objective::kSoftmax, .balance_classes = true, .n_trees = 1});
  EXPECT_EQ(model.options.class_weight, (std::vector<double>{12.0 / (3 * 6), 12.0 / (3 * 4), 1, 12.0 / (3 * 2)}));
  for (const std::size_t k : {0UL, 1UL, 3UL}) EXPECT_NEAR(model.base_margin[k], std::log(1.0 / 3), 1e-7) << k;
}

TEST(TrainTest, ABaseScoreIsThePredictionBeforeAnyTree) {
  for (const Objective objective :
       {Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kPoisson, Objective::kQuantile}) {
    const table::Table table = random_table({.n_rows = 500, .objective = objective}, alone());
    Model model = train_alone(table, {.objective = objective, .base_score = 0.3, .n_trees = 1, .depth = 2});
    model.trees.clear();
    EXPECT_NEAR(predict(model, table, 1)[0], 0.3, 1e-6) << to_string(objective);
  }
}

TEST(TrainTest, AModelContinuedKeepsItsTreesAndImproves) {
  const table::Table table = random_table({}, alone());
  const table::Table other = random_table({.n_rows = 1000, .seed = 2}, alone());
  const Model base = train_alone(table, {.n_trees = 4, .depth = 3});
  Progress progress;
  const Options options{.n_trees = 6, .depth = 5, .learning_rate = 0.3};
  const Model model = train(other, &table, options, alone(), 2, progress, nullptr, &base);
  ASSERT_EQ(model.n_rounds(), 10);
  EXPECT_TRUE(std::equal(base.trees.begin(), base.trees.end(), model.trees.begin()));
  EXPECT_EQ(model.base_margin, base.base_margin);
  // The losses of all rounds are those on the tables of this run.
  ASSERT_EQ(model.history.validation_loss.size(), 10);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(model.history.validation_loss[r], base.history.train_loss[r]);
  EXPECT_NE(model.history.train_loss[3], base.history.train_loss[3]);
  EXPECT_LT(model.history.validation_loss.back(), base.history.train_loss.back());
}

TEST(TrainTest, EarlyStoppingKeepsAllOfTheModelContinued) {
  const table::Table table = random_table({.n_rows = 400, .seed = 1}, alone());
  const table::Table other = random_table({.n_rows = 1000, .seed = 2}, alone());
  const Model base = train_alone(table, {.n_trees = 60, .learning_rate = 0.8});  // far beyond its best round
  Progress progress;
  const Options options{.n_trees = 40, .learning_rate = 0.8, .early_stopping_rounds = 3};
  const Model model = train(table, &other, options, alone(), 2, progress, nullptr, &base);
  EXPECT_GE(model.n_rounds(), 60);
  EXPECT_LT(model.n_rounds(), 90);
}

TEST(TrainTest, InfinitiesTrainAndPredictTheSame) {
  const table::Table table = random_table({.has_infinities = true, .has_missing = true}, alone());
  const Model model = train_alone(table, {.n_trees = 8, .depth = 5});
  const std::vector<float> p = predict(model, table, 1);
  double sum = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    sum -= std::log(table.label()[i] == 1 ? p[i] : 1 - static_cast<double>(p[i]));
  }
  EXPECT_NEAR(model.history.train_loss.back(), sum / 5000, 1e-6);
  // An infinite value goes where a finite one beyond all cuts goes.
  table::Table finite = random_table({.has_infinities = true, .has_missing = true}, alone());
  for (std::size_t j = 0; j < finite.n_features(); ++j) {
    for (float& x : finite.feature(j)) {
      if (std::isinf(x)) x = std::copysign(std::numeric_limits<float>::max(), x);
    }
  }
  EXPECT_EQ(predict(model, finite, 1), p);
}

TEST(TrainTest, LeavesNeverExceedTheirLimit) {
  const table::Table table = random_table({}, alone());
  for (const int max_leaves : {2, 3, 7, 20}) {
    const Model model = train_alone(table, {.n_trees = 3, .depth = 6, .max_leaves = max_leaves});
    for (const Tree& tree : model.trees) {
      EXPECT_EQ(std::count_if(tree.nodes.begin(), tree.nodes.end(), [](const Node& node) { return node.is_leaf(); }),
                max_leaves);
    }
  }
}

TEST(TrainTest, BestFirstAlwaysSplitsTheLeafThatGainsMost) {
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

TEST(TrainTest, BestFirstWithRoomForAllIsTheTreeByLevels) {
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

TEST(TrainTest, BestFirstFitsBetterThanLevelsWithAsManyLeaves) {
  const table::Table table = random_table({.n_rows = 20'000}, alone());
  const auto loss = [&](int depth, bool best_first) {
    return train_alone(table, {.n_trees = 10, .depth = depth, .max_leaves = 32, .best_first = best_first})
        .history.train_loss.back();
  };
  EXPECT_LT(loss(30, true), loss(5, false));
}

TEST(TrainTest, ColumnSubsamplingLeavesOtherFeaturesOutOfATree) {
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

TEST(TrainTest, RowSubsamplingGrowsTreesOnAShareOfTheRows) {
  const table::Table table = random_table({.objective = Objective::kSquaredError}, alone());
  const Model model =
      train_alone(table, {.objective = Objective::kSquaredError, .n_trees = 4, .depth = 3, .subsample = 0.3});
  for (const Tree& tree : model.trees) {
    EXPECT_NEAR(tree.nodes[0].cover, 0.3 * 5000, 5 * std::sqrt(5000 * 0.3 * 0.7));
  }
  EXPECT_NE(model.trees[0].nodes[0].cover, model.trees[1].nodes[0].cover);
}

TEST(TrainTest, EarlyStoppingKeepsTheBestRoundAsTheLast) {
  const table::Table table = random_table({.n_rows = 400, .seed = 1}, alone());
  const table::Table other = random_table({.n_rows = 1000, .seed = 2}, alone());
  const Model model =
      train_alone(table, {.n_trees = 500, .depth = 6, .learning_rate = 0.5, .early_stopping_rounds = 5}, &other);
  const std::vector<double>& loss = model.history.validation_loss;
  ASSERT_LT(model.trees.size(), 400);
  EXPECT_EQ(model.trees.size(), loss.size());
  EXPECT_EQ(std::min_element(loss.begin(), loss.end()), loss.end() - 1);
}

TEST(TrainTest, RowsSetAsideDoNotShapeTheModel) {
  // Their labels are turned round: the model must not notice.
  table::Table table = random_table({}, alone());
  const Options options{.n_trees = 5, .depth = 4, .validation_fraction = 0.3, .seed = 9};
  const Model before = train_alone(table, options);
  double n_turned = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (uniform01(hash64(9, kValidationStream, i)) < 0.3) {
      table.label()[i] = 1 - table.label()[i];
      for (std::size_t j = 0; j < table.n_features(); ++j) table.feature(j)[i] += 100;
      ++n_turned;
    }
  }
  const Model after = train_alone(table, options);
  EXPECT_NEAR(n_turned, 1500, 200);
  EXPECT_EQ(after.trees, before.trees);
  EXPECT_EQ(after.history.train_loss, before.history.train_loss);
  EXPECT_GT(after.history.validation_loss.back(), before.history.validation_loss.back());
}

TEST(TrainTest, AStopRequestEndsAfterTheTreeUnderWay) {
  struct StopAtThree : Progress {
    void report(const ProgressStep& step) override { done = step.done; }
    bool stop_requested() override { return done == 3; }
    std::size_t done = 0;
  } progress;
  const Model model = train(random_table({}, alone()), nullptr, {.n_trees = 10, .depth = 3}, alone(), 2, progress);
  EXPECT_EQ(model.trees.size(), 3);
}

TEST(TrainTest, ConstantAndAllMissingColumnsAreTrainedAndNeverSplitOn) {
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

TEST(TrainTest, OneRowOfARegressionIsItsOwnMean) {
  const table::Table table = make_table({{1.0F}}, {7.0F});
  const Model model = train_alone(table, {.objective = Objective::kSquaredError, .n_trees = 3, .depth = 3});
  EXPECT_EQ(predict(model, table, 1), std::vector<float>{7.0F});
}

TEST(PredictTest, InfinitiesFollowTheOrderOfNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> feature;
  std::vector<float> label;
  for (int i = 0; i < 100; ++i) {
    feature.push_back(i % 4 == 0 ? -infinity : i % 4 == 1 ? infinity : static_cast<float>(i));
    label.push_back(i % 4 == 1 ? 1.0F : 0.0F);
  }
  const table::Table table = make_table({feature}, label);
  const Model model = train_alone(
      table, {.objective = Objective::kSquaredError, .n_trees = 1, .depth = 1, .learning_rate = 1, .lambda = 0});
  const std::vector<float> predicted = predict(model, table, 1);
  for (std::size_t i = 0; i < label.size(); ++i) EXPECT_NEAR(predicted[i], label[i], 1e-6) << feature[i];
}

TEST(PredictTest, TreesWithAndWithoutCategoriesAddUp) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Model model;
  model.schema = numbered_schema(2, false);
  model.schema.categories = {{1, std::nullopt}};
  model.options.objective = Objective::kSquaredError;
  model.base_margin = {100};
  // By category 0 or 7 of x1, then by x0.
  model.trees = {Tree{.nodes = {{.feature = 1, .left = 1, .missing_left = false, .category_set = 0},
                                {.value = 1},
                                {.threshold = 5, .feature = 0, .left = 3, .missing_left = true},
                                {.value = 2},
                                {.value = 3}},
                      .category_sets = {{0, 7}}},
                 Tree{.nodes = {{.threshold = 5, .feature = 0, .left = 1}, {.value = 10}, {.value = 20}}}};
  const table::Table table =
      make_table({{4, 6, 4, 6, nan, 6}, {3, 0, 7, nan, 0, 8}}, {0, 0, 0, 0, 0, 0}, {}, model.schema.categories);
  EXPECT_EQ(predict(model, table, 1), (std::vector<float>{111, 123, 112, 123, 122, 121}));
}

/// A tree that splits leaves drawn at random until it has `n_nodes`, by values that occur among special_values().
Tree random_tree(std::size_t n_nodes, std::uint64_t seed, std::span<const float> thresholds, std::int32_t n_features) {
  RandomSequence random(seed, 0, 0);
  Tree tree{.nodes = {{.value = 0}}};
  std::vector<std::size_t> leaves{0};
  while (tree.nodes.size() + 2 <= n_nodes) {
    const std::size_t place = random.next() % leaves.size();
    Node& node = tree.nodes[leaves[place]];
    node.threshold = thresholds[random.next() % thresholds.size()];
    node.feature = static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(n_features));
    node.left = static_cast<std::int32_t>(tree.nodes.size());
    node.missing_left = random.next() % 2 == 0;
    leaves[place] = tree.nodes.size();
    leaves.push_back(tree.nodes.size() + 1);
    for (int child = 0; child < 2; ++child) {
      tree.nodes.push_back({.value = static_cast<float>(random.next() % 1000)});
    }
  }
  return tree;
}

TEST(PredictTest, RowsThatGoSideBySideEndWhereOneAloneDoes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-kInfinity, -1e30F, -1, -1e-45F, -0.0F,     0,
                                  1e-45F,     1,      2,  1e30F,   kInfinity, std::numeric_limits<float>::quiet_NaN()};
  const std::span<const float> thresholds = std::span(values).first(values.size() - 1);
  constexpr std::size_t kRows = 1003;  // not a multiple of any tile
  RandomSequence random(11, 0, 0);
  std::vector<std::vector<float>> columns(5, std::vector<float>(kRows));
  for (std::vector<float>& column : columns) {
    for (float& value : column) value = values[random.next() % values.size()];
  }
  const std::vector<std::span<const float>> features(columns.begin(), columns.end());
  // A leaf alone, shallow and deep trees, and one with more nodes than 16 bits count.
  for (const std::size_t n_nodes : {1UL, 3UL, 63UL, 2047UL, 70001UL}) {
    const Tree tree = random_tree(n_nodes, n_nodes, thresholds, 5);
    std::vector<float> margins(kRows);
    add_trees(std::span(&tree, 1), 1, features, 2, margins);
    for (std::size_t row = 0; row < kRows; ++row) {
      const Node* node = tree.nodes.data();
      while (!node->is_leaf()) {
        const float value = columns[static_cast<std::size_t>(node->feature)][row];
        node = &tree.nodes[static_cast<std::size_t>(node->left) + (goes_left(tree, *node, value) ? 0 : 1)];
      }
      ASSERT_EQ(margins[row], node->value) << "row " << row << " in a tree of " << n_nodes << " nodes";
    }
  }
}

TEST(PredictTest, OtherCategoriesThanTheModelsAreRefused) {
  const auto refusal = [](const table::Dictionary& of_model, const std::map<std::size_t, table::Dictionary>& of_data) {
    Model model;
    model.schema = numbered_schema(1, false);
    model.schema.categories = {{0, of_model}};
    model.base_margin = {0};
    try {
      predict(model, make_table({{0}}, {0}, {}, of_data), 1);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const table::Dictionary texts = {{"a", "b"}};
  const std::string message = "the categories of x0 are not those of the model";
  EXPECT_EQ(refusal(texts, {}), message);
  EXPECT_EQ(refusal(texts, {{0, {{"a", "c"}}}}), message);
  EXPECT_EQ(refusal(texts, {{0, std::nullopt}}), message);
  EXPECT_EQ(refusal(texts, {{0, texts}}), "accepted");
}

TEST(PredictTest, SoftmaxProbabilitiesSumToOne) {
  const table::Table table = random_table({.objective = Objective::kSoftmax}, alone());
  const Model model = train_alone(table, {.objective = Objective::kSoftmax, .n_trees = 3, .depth = 3});
  ASSERT_EQ(model.n_outputs(), 4);
  const std::vector<float> p = predict(model, table, 2);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    EXPECT_NEAR(p[i] + p[i + 5000] + p[i + 10000] + p[i + 15000], 1, 1e-6);
  }
}

TEST(PredictTest, FeaturesAreFoundByName) {
  const table::Schema schema{.features = {"b", "x", "a"}};
  EXPECT_EQ(match_features({"a", "b"}, schema), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(match_features({"f0", "f1", "f2"}, schema), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(match_features({"a", "b"}, {.features = {"f1", "f2"}}), (std::vector<std::size_t>{0, 1}));
  try {
    match_features({"a", "c", "d"}, schema);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "the data lacks columns that the model needs: c, d");
  }
  EXPECT_THROW(match_features({"f0", "f1"}, schema), std::exception);
}

}  // namespace
}  // namespace podere::tree
