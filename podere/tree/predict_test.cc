#include "podere/tree/predict.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

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

/// Three classes whose margins are `margins`, whatever the row.
Model model_of_classes(Objective objective, const std::vector<double>& margins) {
  Model model;
  model.schema = numbered_schema(1, false);
  model.options.objective = objective;
  model.options.n_classes = static_cast<int>(margins.size());
  model.base_margin = margins;
  for (std::size_t k = 0; k < margins.size(); ++k) model.trees.push_back({{Node{}}, {}});
  validate(model);
  return model;
}

TEST(PredictTest, SumsThatAreProbabilitiesAreThePredictionsButForRounding) {
  const Model model = model_of_classes(Objective::kProbabilities, {0.25, -1e-7, 1.0000001});
  const table::Table table = make_table({{0, 1}}, {0, 1});
  EXPECT_EQ(predict(model, table, 1), (std::vector<float>{0.25F, 0.25F, 0, 0, 1, 1}));
  EXPECT_EQ(predict_margins(model, table, 1).front(), 0.25F);
}

TEST(PredictTest, OneVersusAllHasALogisticFunctionForEachClass) {
  const Model model = model_of_classes(Objective::kOneVersusAll, {0, std::log(3.0), -std::log(3.0)});
  const std::vector<float> p = predict(model, make_table({{0}}, {0}), 1);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(p[k], (std::array{0.5, 0.75, 0.25})[k], 1e-7);
}

TEST(PredictTest, ModelsOfOtherProgramsAloneComeBackFromTheirText) {
  for (const Objective objective : {Objective::kProbabilities, Objective::kOneVersusAll}) {
    const Model model = model_of_classes(objective, {0.5, 0.25, 0.25});
    EXPECT_EQ(to_text(from_text(to_text(model), "m")), to_text(model));
  }
}

}  // namespace
}  // namespace podere::tree
