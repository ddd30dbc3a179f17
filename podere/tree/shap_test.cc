// SHAP values against Shapley's definition, over all coalitions.
#include "podere/tree/shap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"
#include "podere/tree/predict.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

/// What a tree gives a row of which the features in `known` (a bit each) are known.
double value_of(const Tree& tree, std::size_t n, std::uint32_t known, const std::vector<float>& row) {
  const Node& node = tree.nodes[n];
  if (node.is_leaf()) return node.value;
  const auto left = static_cast<std::size_t>(node.left);
  if ((known >> node.feature & 1) != 0) {
    const float x = row[static_cast<std::size_t>(node.feature)];
    const auto is_in_set = [&](const std::vector<std::int32_t>& codes) {
      return std::any_of(codes.begin(), codes.end(), [&](std::int32_t code) { return static_cast<float>(code) == x; });
    };
    const bool is_left = std::isnan(x)            ? node.missing_left
                         : node.category_set >= 0 ? !is_in_set(tree.category_sets.at(node.category_set))
                                                  : x < node.threshold;
    return value_of(tree, is_left ? left : left + 1, known, row);
  }
  const double covers = double{tree.nodes[left].cover} + tree.nodes[left + 1].cover;
  const double share = covers > 0 ? tree.nodes[left].cover / covers : 0.5;
  return share * value_of(tree, left, known, row) + (1 - share) * value_of(tree, left + 1, known, row);
}

/// Shapley's formula, sum over coalitions S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S)); then v(nothing).
std::vector<double> shapley(const Tree& tree, std::size_t n_features, const std::vector<float>& row) {
  std::vector<double> value;
  for (std::uint32_t known = 0; known < 1U << n_features; ++known) value.push_back(value_of(tree, 0, known, row));
  std::vector<double> result(n_features + 1);
  const auto n = static_cast<double>(n_features);
  for (std::uint32_t known = 0; known < 1U << n_features; ++known) {
    const double size = std::popcount(known);
    const double weight = std::exp(std::lgamma(size + 1) + std::lgamma(n - size) - std::lgamma(n + 1));
    for (std::size_t i = 0; i < n_features; ++i) {
      if ((known >> i & 1) == 0) result[i] += weight * (value[known | 1U << i] - value[known]);
    }
  }
  result[n_features] = value[0];
  return result;
}

constexpr int kCategories = 4;
/// Of the random trees, every third feature is one of categories.
bool is_category(std::size_t feature) { return feature % 3 == 2; }

/// Grows what lies below node `n`: the same features again and again, missing values either way, covers of 0 too.
void grow(Tree& tree, std::size_t n, int depth, std::size_t n_features, RandomSequence& random) {
  Node& node = tree.nodes[n];
  if (depth == 0 || random.uniform() < 0.15) {
    node.value = static_cast<float>(2 * random.uniform() - 1);
    return;
  }
  node.feature = static_cast<std::int32_t>(random.uniform() * static_cast<double>(n_features));
  node.threshold = static_cast<float>(random.uniform());
  if (is_category(static_cast<std::size_t>(node.feature))) {
    node.category_set = static_cast<std::int32_t>(tree.category_sets.size());
    auto& codes = tree.category_sets.emplace_back();
    for (std::int32_t code = 0; code < kCategories; ++code) {
      if (random.uniform() < 0.5) codes.push_back(code);
    }
  }
  node.missing_left = random.uniform() < 0.5;
  const auto left = tree.nodes.size();
  node.left = static_cast<std::int32_t>(left);
  const double share = random.uniform() < 0.2 ? 0 : random.uniform();
  const auto cover = node.cover;
  tree.nodes.resize(left + 2);
  tree.nodes[left].cover = static_cast<float>(cover * share);
  tree.nodes[left + 1].cover = cover - tree.nodes[left].cover;
  for (const std::size_t child : {left, left + 1}) grow(tree, child, depth - 1, n_features, random);
}

Tree random_tree(int depth, std::size_t n_features, RandomSequence& random) {
  Tree tree{.nodes = {Node{.cover = 1000}}};
  grow(tree, 0, depth, n_features, random);
  return tree;
}

/// One split after the other, each on a feature of its own; a leaf at every turn to the left.
Tree chain(std::size_t n_features) {
  Tree tree{.nodes = {Node{.cover = 1000}}};
  for (std::size_t j = 0; j < n_features; ++j) {
    const std::size_t n = tree.nodes.size() - 1;
    const float cover = tree.nodes[n].cover;
    tree.nodes[n].feature = static_cast<std::int32_t>(j);
    tree.nodes[n].threshold = 0.5F;
    tree.nodes[n].left = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes.push_back({.value = 1.0F / static_cast<float>(j + 1), .cover = cover * 0.25F});
    tree.nodes.push_back({.value = -1, .cover = cover * 0.75F});
  }
  return tree;
}

Model model_of(std::vector<Tree> trees, std::size_t n_features, std::vector<double> base_margin = {0.25}) {
  Model model;
  model.schema = numbered_schema(n_features, false);
  model.options.objective = base_margin.size() > 1 ? Objective::kSoftmax : Objective::kSquaredError;
  model.options.n_classes = base_margin.size() > 1 ? static_cast<int>(base_margin.size()) : 0;
  model.base_margin = std::move(base_margin);
  model.trees = std::move(trees);
  return model;
}

std::vector<float> random_row(std::size_t n_features, RandomSequence& random) {
  std::vector<float> row;
  for (std::size_t j = 0; j < n_features; ++j) {
    const double x = random.uniform() * (is_category(j) ? kCategories + 1 : 1);  // one category that no set has
    row.push_back(random.uniform() < 0.2 ? kNaN : static_cast<float>(is_category(j) ? std::floor(x) : x));
  }
  return row;
}

std::vector<double> values_of_row(const Model& model, const std::vector<float>& row) {
  std::vector<std::vector<float>> columns;
  for (const float x : row) columns.push_back({x});
  return shap_values(model, make_table(columns, {0}), 1);
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], expected[j], tolerance) << "place " << j;
}

TEST(Shap, ValuesOfASplitByHand) {
  // 30 rows of 40 go left to 1, 10 to 5: 2 are expected.
  const Tree tree{.nodes = {{.threshold = 0, .feature = 1, .left = 1, .cover = 40},
                            {.value = 1, .cover = 30},
                            {.value = 5, .cover = 10}}};
  const Model model = model_of({tree}, 2, {0.5});
  EXPECT_EQ(shap_bias(model), std::vector<double>{2.5});
  expect_near(values_of_row(model, {7, -1}), {0, -1, 2.5}, 1e-15);
  expect_near(values_of_row(model, {7, 0}), {0, 3, 2.5}, 1e-15);
  expect_near(values_of_row(model, {7, kNaN}), {0, 3, 2.5}, 1e-15);
}

TEST(Shap, ValuesOfTwoFeaturesByHand) {
  // "And" of two features, each true for half of the rows: either gets (1/2 (1/2 - 1/4) + 1/2 (1 - 1/2)) of 1.
  const Tree tree{.nodes = {{.threshold = 0.5F, .feature = 0, .left = 1, .cover = 4},
                            {.value = 0, .cover = 2},
                            {.threshold = 0.5F, .feature = 1, .left = 3, .cover = 2},
                            {.value = 0, .cover = 1},
                            {.value = 1, .cover = 1}}};
  expect_near(values_of_row(model_of({tree}, 2, {0}), {1, 1}), {0.375, 0.375, 0.25}, 1e-15);
  expect_near(values_of_row(model_of({tree}, 2, {0}), {1, 0}), {0.125, -0.375, 0.25}, 1e-15);
}

TEST(Shap, ValuesAreThoseOfShapleysFormulaOnRandomTrees) {
  RandomSequence random(1, 0, 0);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n_features = 1 + static_cast<std::size_t>(round) % 7;
    const Tree tree = random_tree(round % 9, n_features, random);
    const std::vector<float> row = random_row(n_features, random);
    expect_near(values_of_row(model_of({tree}, n_features, {0}), row), shapley(tree, n_features, row), 1e-13);
  }
}

TEST(Shap, PathsOfMoreFeaturesThanOneGroupOfPointsTakes) {
  RandomSequence random(2, 0, 0);
  for (const std::size_t n_features : {7, 8, 9, 13}) {
    const std::vector<float> row = random_row(n_features, random);
    const Tree tree = chain(n_features);
    expect_near(values_of_row(model_of({tree}, n_features, {0}), row), shapley(tree, n_features, row), 1e-13);
  }
}

TEST(Shap, ValuesAddUpToTheMarginOnPathsOfAHundredFeatures) {
  const Tree tree = chain(100);
  for (const std::size_t turn : {0, 5, 50, 97}) {
    std::vector<float> row(100, 0.9F);
    row[turn] = 0;
    double sum = 0;
    for (const double value : values_of_row(model_of({tree}, 100, {0}), row)) sum += value;
    EXPECT_NEAR(sum, tree.nodes[2 * turn + 1].value, 1e-12);
  }
}

TEST(Shap, TreesOfSeveralClassesGiveABlockEach) {
  RandomSequence random(4, 0, 0);
  std::vector<Tree> trees;
  for (int t = 0; t < 6; ++t) trees.push_back(random_tree(4, 3, random));
  const std::vector<double> base = {0.5, -1, 2};
  const std::vector<float> row = random_row(3, random);
  const std::vector<double> values = values_of_row(model_of(trees, 3, base), row);
  std::vector<double> expected;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double> first = shapley(trees[k], 3, row);
    const std::vector<double> second = shapley(trees[k + 3], 3, row);
    for (std::size_t j = 0; j <= 3; ++j) expected.push_back(first[j] + second[j] + (j == 3 ? base[k] : 0));
  }
  expect_near(values, expected, 1e-13);
}

TEST(Shap, ValuesAndBiasOfATrainedModelAddUpToTheMargin) {
  for (const auto objective : {Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kSoftmax}) {
    const table::Table table = random_table({.n_rows = 600, .objective = objective, .has_missing = true}, alone());
    const Model model = train_alone(table, {.objective = objective, .n_trees = 20, .depth = 7});
    const std::vector<double> values = shap_values(model, table, 1);
    const std::vector<float> margins = predict_margins(model, table, 1);
    const std::size_t n_columns = table.n_features() + 1;
    const std::size_t n_outputs = model.n_outputs();
    ASSERT_EQ(values.size(), table.n_rows() * n_outputs * n_columns);
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      for (std::size_t k = 0; k < n_outputs; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < n_columns; ++j) sum += values[(i * n_outputs + k) * n_columns + j];
        ASSERT_NEAR(sum, margins[k * table.n_rows() + i], 1e-6) << "row " << i << " output " << k;
      }
    }
    EXPECT_EQ(shap_values(model, table, 3), values) << "3 threads";
  }
}

TEST(Shap, TheMeanOfAFeaturesValuesOverItsTrainingRowsIsSmallAndUnusedFeaturesHaveNone) {
  std::vector<float> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(i < 300 ? 1.0F : 4.0F);
  }
  const table::Table table = make_table({x, std::vector<float>(1000, 5)}, y);
  const Model model = train_alone(table, {.objective = Objective::kSquaredError, .n_trees = 30, .depth = 2});
  const std::vector<double> values = shap_values(model, table, 1);
  double sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    sum += values[i * 3];
    EXPECT_EQ(values[i * 3 + 1], 0);
  }
  EXPECT_NEAR(sum / 1000, 0, 1e-6);
  EXPECT_GT(values[999 * 3] - values[0], 2);
}

TEST(Shap, ColumnsInAnotherOrderAreFoundByName) {
  RandomSequence random(5, 0, 0);
  const Model model = model_of({random_tree(5, 3, random)}, 3);
  table::Table turned({.features = {"x2", "more", "x0", "x1"}}, 1, {0, 1});
  const std::vector<float> row = random_row(3, random);
  turned.feature(0)[0] = row[2];
  turned.feature(1)[0] = 99;
  turned.feature(2)[0] = row[0];
  turned.feature(3)[0] = row[1];
  EXPECT_EQ(shap_values(model, turned, 1), values_of_row(model, row));
  EXPECT_THROW(shap_values(model, table::Table({.features = {"x2", "x0"}}, 1, {0, 1}), 1), InputError);
}

TEST(Shap, AModelWithoutTreesHasItsBaseMarginAlone) {
  expect_near(values_of_row(model_of({}, 2, {0.75}), {1, 2}), {0, 0, 0.75}, 0);
  expect_near(values_of_row(model_of({Tree{.nodes = {{.value = 2}}}}, 2, {0.75}), {1, 2}), {0, 0, 2.75}, 0);
}

TEST(Shap, ModelsThatCannotBeExplainedAreRefused) {
  Tree tree = chain(2);
  tree.nodes[1].feature = 1;
  tree.nodes[1].left = tree.nodes[2].left;
  EXPECT_THROW(values_of_row(model_of({tree}, 2), {1, 2}), InputError) << "a node with two parents";
  tree = chain(2);
  for (Node& node : tree.nodes) node.cover = 0;
  EXPECT_THROW(values_of_row(model_of({tree}, 2), {1, 2}), InputError) << "no covers";
}

}  // namespace
}  // namespace podere::tree
