#include "podere/tree/permutation_importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/evaluate/classification.h"
#include "podere/evaluate/regression.h"
#include "podere/table/permute.h"
#include "podere/tree/predict.h"
#include "podere/tree/streams.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

Model trained_on(const table::Table& table, Objective objective) {
  return train_alone(table, {.objective = objective, .n_trees = 10, .depth = 4});
}

PermutationImportance importance_of(const Model& model, const table::Table& table, int repeats = 3,
                                    std::uint64_t seed = 0) {
  Progress progress;
  return permutation_importance(model, table, repeats, seed, alone(), 1, progress);
}

double measure(const Model& model, const table::Table& table) {
  const std::vector<float> predictions = predict(model, table, 1);
  switch (model.options.objective) {
    case Objective::kBinaryLogistic:
      return evaluate::auc(alone(), predictions, table.label(), table.weight());
    case Objective::kSoftmax:
    case Objective::kProbabilities:
    case Objective::kOneVersusAll:
      return -evaluate::multi_log_loss(alone(), predictions, model.n_outputs(), table.label(), table.weight());
    case Objective::kPoisson:
      return -evaluate::mean_poisson_deviance(alone(), predictions, table.label(), table.weight());
    case Objective::kQuantile:
      return -evaluate::pinball_loss(alone(), predictions, table.label(), table.weight(), model.options.quantile);
    case Objective::kSquaredError:
      break;
  }
  return -evaluate::root_mean_squared_error(alone(), predictions, table.label(), table.weight());
}

TEST(PermutationImportance, IsTheMeanFallOfTheMeasureOverShuffledTables) {
  for (const auto objective : {Objective::kBinaryLogistic, Objective::kSoftmax, Objective::kSquaredError,
                               Objective::kPoisson, Objective::kQuantile}) {
    const RandomTable want{
        .n_rows = 1500, .n_features = 4, .objective = objective, .has_missing = true, .has_weight = true};
    const Model model = trained_on(random_table(want, alone()), objective);
    const PermutationImportance result = importance_of(model, random_table(want, alone()), 3, 7);
    const double baseline = measure(model, random_table(want, alone()));
    EXPECT_EQ(std::abs(baseline), result.baseline);
    for (std::size_t j = 0; j < want.n_features; ++j) {
      std::vector<double> falls;
      for (std::uint64_t repeat = 0; repeat < 3; ++repeat) {
        table::Table shuffled = random_table(want, alone());
        const table::Permutation place(want.n_rows,
                                       hash64(hash64(7, kPermutationStream, repeat), kPermutationStream, j));
        const table::Table as_it_is = random_table(want, alone());
        for (std::size_t i = 0; i < want.n_rows; ++i) shuffled.feature(j)[place(i)] = as_it_is.feature(j)[i];
        falls.push_back(baseline - measure(model, shuffled));
      }
      const double mean = (falls[0] + falls[1] + falls[2]) / 3;
      EXPECT_NEAR(result.mean[j], mean, 1e-15);
      EXPECT_NEAR(
          result.spread[j],
          std::sqrt((std::pow(falls[0] - mean, 2) + std::pow(falls[1] - mean, 2) + std::pow(falls[2] - mean, 2)) / 2),
          1e-12);
    }
  }
}

TEST(PermutationImportance, IsLargeForWhatMattersAndZeroForWhatTheModelDoesNotUse) {
  std::vector<float> x, noise, y;
  RandomSequence random(1, 0, 0);
  for (int i = 0; i < 2000; ++i) {
    x.push_back(static_cast<float>(random.uniform()));
    noise.push_back(static_cast<float>(random.uniform()));
    y.push_back(x.back() < 0.5F ? 0.0F : 1.0F);
  }
  const table::Table table = make_table({noise, x, std::vector<float>(2000, 1)}, y);
  const PermutationImportance result = importance_of(trained_on(table, Objective::kBinaryLogistic), table);
  EXPECT_EQ(result.measure, "auc");
  EXPECT_NEAR(result.baseline, 1, 1e-3);
  EXPECT_NEAR(result.mean[1], 0.5, 0.05) << "shuffled, the model guesses";
  EXPECT_LT(std::abs(result.mean[0]), 0.01);
  EXPECT_EQ(result.mean[2], 0);
  EXPECT_EQ(result.spread[2], 0);
  EXPECT_GT(result.spread[1], 0);
  EXPECT_LT(result.spread[1], 0.05);
}

TEST(PermutationImportance, OfOneRepeatHasNoSpreadAndAnotherSeedShufflesOtherwise) {
  const table::Table table = random_table({.n_rows = 1000, .n_features = 2}, alone());
  const Model model = trained_on(table, Objective::kBinaryLogistic);
  EXPECT_TRUE(std::isnan(importance_of(model, table, 1).spread[0]));
  EXPECT_NE(importance_of(model, table, 1, 1).mean, importance_of(model, table, 1, 2).mean);
}

TEST(PermutationImportance, RefusesWhatHasNoMeasure) {
  const table::Table table = random_table({.n_rows = 1000, .n_features = 2}, alone());
  const Model model = trained_on(table, Objective::kBinaryLogistic);
  const auto refusal = [&](const table::Table& other, int repeats) -> std::string {
    try {
      importance_of(model, other, repeats);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(table, 0), "permutation is 0, allowed is 1 to 1000 repeats");
  EXPECT_EQ(refusal(table, 1001), "permutation is 1001, allowed is 1 to 1000 repeats");
  EXPECT_TRUE(
      refusal(make_table({{1}, {2}}, {3}), 1).starts_with("evaluation data: label of row 0 is 3, allowed is 0 or 1"));
  EXPECT_EQ(refusal(make_table({{}, {}}, {}), 1), "evaluation data: there are no rows");
  EXPECT_EQ(refusal(make_table({{1, 2}, {2, 3}}, {1, 1}), 1).substr(0, 49),
            "permutation importance needs rows of both classes");
  EXPECT_EQ(refusal(table::Table({.features = {"x0", "x1"}}, 1, {0, 1}), 1),
            "evaluation data: there is no label column");
  EXPECT_EQ(refusal(make_table({{1, 2}}, {1, 0}), 1), "the data lacks columns that the model needs: x1");
}

}  // namespace
}  // namespace podere::tree
