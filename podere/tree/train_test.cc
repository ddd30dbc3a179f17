#include "podere/tree/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "podere/base/hash.h"
#include "podere/tree/predict.h"
#include "podere/tree/streams.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

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

TEST(TrainTest, AModelContinuedKeepsItsTreesAndImproves) {
  const table::Table table = random_table({}, alone());
  const table::Table other = random_table({.n_rows = 1000, .seed = 2}, alone());
  const Model base = train_alone(table, {.n_trees = 4, .depth = 3});
  const Model model = train_alone(other, {.n_trees = 6, .depth = 5, .learning_rate = 0.3}, &table, &base);
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
  const Options options{.n_trees = 40, .learning_rate = 0.8, .early_stopping_rounds = 3};
  const Model model = train_alone(table, options, &other, &base);
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
  const Model model =
      train(table::HeldRows(random_table({}, alone())), nullptr, {.n_trees = 10, .depth = 3}, alone(), 2, progress);
  EXPECT_EQ(model.trees.size(), 3);
}

TEST(TrainTest, OneRowOfARegressionIsItsOwnMean) {
  const table::Table table = make_table({{1.0F}}, {7.0F});
  const Model model = train_alone(table, {.objective = Objective::kSquaredError, .n_trees = 3, .depth = 3});
  EXPECT_EQ(predict(model, table, 1), std::vector<float>{7.0F});
}

TEST(TrainTest, ATableThatIsHandedOverGivesTheSameModel) {
  // Large enough that features do go back to the system. Rows set aside, a model to continue and leaves of quantiles
  // need more than bins.
  const RandomTable large = {.n_rows = 150'000, .objective = Objective::kSquaredError, .has_missing = true};
  for (const Objective objective : {Objective::kSquaredError, Objective::kQuantile}) {
    const Options options = {.objective = objective, .n_trees = 3, .depth = 4, .validation_fraction = 0.2};
    const auto train_and_spend = [&](const Model* base) {
      Progress progress;
      return train(table::HeldRows(random_table(large, alone())), nullptr, options, alone(), 2, progress, nullptr,
                   {.base = base});
    };
    const table::Table kept = random_table(large, alone());
    const Model base = train_alone(kept, options);
    EXPECT_EQ(to_text(train_and_spend(nullptr)), to_text(base));
    EXPECT_EQ(to_text(train_and_spend(&base)), to_text(train_alone(kept, options, nullptr, &base)));
  }
}

}  // namespace
}  // namespace podere::tree
