#include "podere/tree/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "podere/tree/predict.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

TEST(LabelsTest, AWeightOfTwoCountsAsTwoRows) {
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

TEST(LabelsTest, ClassWeightsMultiplyTheWeightsOfRows) {
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

TEST(LabelsTest, BalancedClassesWeighTheSame) {
  const table::Table table = make_table({{1, 2, 3, 4, 5, 6}}, {0, 0, 0, 3, 3, 1}, {1, 2, 3, 1, 1, 4});
  const Model model = train_alone(table, {.objective = Objective::kSoftmax, .balance_classes = true, .n_trees = 1});
  EXPECT_EQ(model.options.class_weight, (std::vector<double>{12.0 / (3 * 6), 12.0 / (3 * 4), 1, 12.0 / (3 * 2)}));
  for (const std::size_t k : {0UL, 1UL, 3UL}) EXPECT_NEAR(model.base_margin[k], std::log(1.0 / 3), 1e-7) << k;
}

TEST(LabelsTest, ABaseScoreIsThePredictionBeforeAnyTree) {
  for (const Objective objective :
       {Objective::kBinaryLogistic, Objective::kSquaredError, Objective::kPoisson, Objective::kQuantile}) {
    const table::Table table = random_table({.n_rows = 500, .objective = objective}, alone());
    Model model = train_alone(table, {.objective = objective, .base_score = 0.3, .n_trees = 1, .depth = 2});
    model.trees.clear();
    EXPECT_NEAR(predict(model, table, 1)[0], 0.3, 1e-6) << to_string(objective);
  }
}

}  // namespace
}  // namespace podere::tree
