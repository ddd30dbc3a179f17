// The same model, bit for bit, however the rows are spread.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/neural/predict.h"
#include "podere/neural/test_training.h"

namespace podere::neural {
namespace {

struct Case {
  const char* name;
  RandomTable table;
  Options options;
  bool has_validation_table = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"adam", {}, {.hidden = {20}, .epochs = 2, .batch_size = 256}},
      {"few_rows_leave_ranks_empty", {.n_rows = 1100}, {.hidden = {20}, .epochs = 2, .batch_size = 100}},
      {"sgd_with_weights_and_dropout",
       {.has_weight = true},
       {.hidden = {20, 20},
        .activation = Activation::kTanh,
        .optimizer = Optimizer::kSgd,
        .epochs = 2,
        .batch_size = 192,
        .learning_rate = 0.05,
        .schedule = Schedule::kCosine,
        .l2 = 1e-3,
        .clip_norm = 1,
        .dropout = 0.3}},
      {"missing_values_and_early_stopping",
       {.has_missing = true},
       {.hidden = {40},
        .epochs = 20,
        .batch_size = 128,
        .learning_rate = 0.05,
        .impute = true,
        .validation_fraction = 0.25,
        .early_stopping_epochs = 2}},
      {"classes_and_a_validation_table",
       {.loss = Loss::kCrossEntropy},
       {.loss = Loss::kCrossEntropy, .hidden = {20}, .optimizer = Optimizer::kAdamW, .epochs = 2},
       true},
      {"numbers", {.loss = Loss::kSquaredError}, {.loss = Loss::kSquaredError, .hidden = {20}, .epochs = 2}},
      {"lbfgs",
       {.has_weight = true},
       {.hidden = {10, 10},
        .activation = Activation::kSigmoid,
        .optimizer = Optimizer::kLbfgs,
        .epochs = 8,
        .l2 = 1e-4}},
      {"steep_growth_of_gradients",  // so that batches are done again with another exponent
       {.loss = Loss::kSquaredError},
       {.loss = Loss::kSquaredError,
        .hidden = {4},
        .activation = Activation::kIdentity,
        .optimizer = Optimizer::kSgd,
        .epochs = 1,
        .batch_size = 64,
        .learning_rate = 0.6,
        .momentum = 0,
        .clip_norm = 1e3,
        .standardize = false}}};
  return all;
}

class TrainDistributedTest : public testing::TestWithParam<Case> {};

TEST_P(TrainDistributedTest, TheModelIsThatOfOneExecutor) {
  const Case& tested = GetParam();
  const auto train_on = [&](const comm::Communicator& comm, int n_threads) {
    Progress progress;
    const table::Table table = random_table(tested.table, comm);
    RandomTable other = tested.table;
    other.seed = 77;
    const table::Table validation = random_table(other, comm);
    return to_text(train(table::HeldRows(table), tested.has_validation_table ? &validation : nullptr, tested.options,
                         comm, n_threads, progress));
  };
  const std::string expected = train_on(alone(), 1);
  EXPECT_EQ(train_on(world(), 1), expected);
  EXPECT_EQ(train_on(world(), 3), expected);
}

INSTANTIATE_TEST_SUITE_P(All, TrainDistributedTest, testing::ValuesIn(cases()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(TrainDistributedErrorTest, ABadRowOnOneRankIsReportedOnAll) {
  table::Table table = random_table({.n_rows = 6000}, world());
  if (table.rows().end == 6000 && table.n_rows() > 0) table.feature(2)[table.n_rows() - 1] = std::nanf("");
  Progress progress;
  try {
    train(table::HeldRows(table), nullptr, {.hidden = {4}, .epochs = 1}, world(), 1, progress);
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("feature 'x2' of row 5999 is missing (NaN)"), std::string::npos)
        << error.what();
  }
}

TEST(TrainDistributedErrorTest, DivergenceInTheLastStepIsReported) {
  table::Table table = random_table({.loss = Loss::kSquaredError}, world());
  for (float& label : table.label()) label *= 1e20F;
  Progress progress;
  try {
    train(table::HeldRows(table), nullptr,
          {.loss = Loss::kSquaredError,
           .hidden = {10, 10},
           .activation = Activation::kIdentity,
           .optimizer = Optimizer::kSgd,
           .epochs = 1,
           .batch_size = 65536,
           .learning_rate = 1e6,
           .standardize_target = false},
          world(), 1, progress);
    FAIL() << "it did not diverge";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("training diverged in step 1 of epoch 1"), std::string::npos)
        << error.what();
  }
}

TEST(TrainDistributedErrorTest, DivergenceIsReportedOnAllRanksWithAdvice) {
  Progress progress;
  const table::Table table = random_table({.loss = Loss::kSquaredError}, world());
  try {
    train(table::HeldRows(table), nullptr,
          {.loss = Loss::kSquaredError,
           .hidden = {10},
           .activation = Activation::kIdentity,
           .optimizer = Optimizer::kSgd,
           .epochs = 50,
           .batch_size = 64,
           .learning_rate = 100},
          world(), 1, progress);
    FAIL() << "it did not diverge";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Try a learning-rate below 100"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace podere::neural
