// What the trainer refuses, and in which words.
#include <gtest/gtest.h>

#include <limits>

#include "podere/base/error.h"
#include "podere/tree/test_tables.h"
#include "podere/tree/train.h"

namespace podere::tree {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const std::string kTwoClasses = ": encode two classes so; for more use --objective softmax, for numbers squared-error";

std::string refusal(const table::Table& table, const Options& options, const table::Table* validation = nullptr) {
  Progress progress;
  try {
    train(table, validation, options, comm::Communicator::self(), 2, progress);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

table::Table fine_table() { return make_table({{1, 2, 3, 4}}, {0, 1, 0, 1}); }

std::string refusal(const Options& options) { return refusal(fine_table(), options); }

TEST(TrainBadArgTest, OptionsOutOfRangeAreNamedWithTheirValueAndWhatIsAllowed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal({.n_trees = -1}), "trees is -1, allowed is 1 to 100000");
  EXPECT_EQ(refusal({.depth = 0}), "depth is 0, allowed is 1 to 30");
  EXPECT_EQ(refusal({.depth = 31}), "depth is 31, allowed is 1 to 30");
  EXPECT_EQ(refusal({.max_leaves = 1}), "max-leaves is 1, allowed is 0 (no limit) or at least 2");
  EXPECT_EQ(refusal({.bins = 257}), "bins is 257, allowed is 2 to 256");
  EXPECT_EQ(refusal({.learning_rate = nan}), "learning-rate is nan, allowed is above 0, at most 1");
  EXPECT_EQ(refusal({.lambda = -1}), "lambda is -1, allowed is 0 or more");
  EXPECT_EQ(refusal({.lambda = nan}), "lambda is nan, allowed is 0 or more");
  EXPECT_EQ(refusal({.min_child_weight = -0.5}), "min-child-weight is -0.5, allowed is 0 or more");
  EXPECT_EQ(refusal({.min_gain = nan}), "min-gain is nan, allowed is 0 or more");
  EXPECT_EQ(refusal({.subsample = 0}), "subsample is 0, allowed is above 0, at most 1");
  EXPECT_EQ(refusal({.column_subsample = 1.5}), "column-subsample is 1.5, allowed is above 0, at most 1");
  EXPECT_EQ(refusal({.validation_fraction = 1}), "validation-fraction is 1, allowed is 0 or more, below 1");
  EXPECT_EQ(refusal({.early_stopping_rounds = 3}), "early-stopping needs validation data or a validation-fraction");
  EXPECT_EQ(refusal({.objective = Objective::kSoftmax, .n_classes = 1}),
            "classes is 1, allowed is 0 (found from the labels) or 2 to 1000");
  EXPECT_EQ(refusal({.n_classes = -1}), "classes is -1, allowed is 0: only softmax has classes to count");
  EXPECT_EQ(refusal({.n_classes = 2}), "classes is 2, allowed is 0: only softmax has classes to count");
  EXPECT_EQ(refusal({.quantile = 1}), "quantile is 1, allowed is above 0, below 1");
  EXPECT_EQ(refusal({.max_delta_step = 0}), "max-delta-step is 0, allowed is above 0");
  EXPECT_EQ(refusal(Options{.min_child_weight = 0}), "accepted");
}

TEST(TrainBadArgTest, LabelsOutsideTheirSetAreNamedWithTheRow) {
  const auto with_label = [](float label) { return make_table({{1, 2, 3}}, {0, 1, label}); };
  EXPECT_EQ(refusal(with_label(2), {}), "training data: label of row 2 is 2, allowed is 0 or 1" + kTwoClasses);
  EXPECT_EQ(refusal(with_label(kNan), {}), "training data: label of row 2 is nan, allowed is 0 or 1" + kTwoClasses);
  EXPECT_EQ(refusal(with_label(kInfinity), {.objective = Objective::kSquaredError}),
            "training data: label of row 2 is inf, allowed is a finite number");
  EXPECT_EQ(
      refusal(with_label(1.5F), {.objective = Objective::kSoftmax}),
      "training data: label of row 2 is 1.5, allowed is a whole number from 0 to 999: encode classes as 0, 1, 2, ...");
  EXPECT_EQ(
      refusal(with_label(5), {.objective = Objective::kSoftmax, .n_classes = 3}),
      "training data: label of row 2 is 5, allowed is a whole number from 0 to 2: encode classes as 0, 1, 2, ...");
}

TEST(TrainBadArgTest, CountsAreFromZeroAndNotAllZero) {
  const Options poisson{.objective = Objective::kPoisson};
  EXPECT_EQ(refusal(make_table({{1, 2}}, {1, -1}), poisson),
            "training data: label of row 1 is -1, allowed is a finite number, 0 or more");
  EXPECT_EQ(refusal(make_table({{1, 2}}, {0, 0}), poisson),
            "training data: the mean of the labels is 0, allowed is above 0");
  EXPECT_EQ(refusal(make_table({{1, 2}}, {3e38F, 3e38F}), poisson),
            "training data: labels or weights are too large: the loss overflows");
}

TEST(TrainBadArgTest, LabelsOfOneClassAreRefused) {
  const char* message = "training data: the labels are all of one class, at least two classes with weight are needed";
  EXPECT_EQ(refusal(make_table({{1, 2}}, {1, 1}), {}), message);
  EXPECT_EQ(refusal(make_table({{1}}, {0}), {}), message);
  EXPECT_EQ(refusal(make_table({{1, 2}}, {0, 0}), {.objective = Objective::kSoftmax}), message);
  EXPECT_EQ(refusal(make_table({{1, 2}}, {0, 1}, {1, 0}), {}), message);
}

TEST(TrainBadArgTest, WeightsMustBeFiniteAndSumAboveZero) {
  const auto with_weight = [](float weight) { return make_table({{1, 2, 3}}, {0, 1, 0}, {1, 1, weight}); };
  EXPECT_EQ(refusal(with_weight(kNan), {}), "training data: weight of row 2 is nan, allowed is a finite number");
  EXPECT_EQ(refusal(with_weight(kInfinity), {}), "training data: weight of row 2 is inf, allowed is a finite number");
  EXPECT_EQ(refusal(with_weight(-3), {}), "training data: the weights sum to -1, allowed is above 0");
  EXPECT_EQ(refusal(with_weight(-0.5), {}), "accepted");
}

TEST(TrainBadArgTest, ATableWithoutRowsLabelOrFeaturesIsRefused) {
  EXPECT_EQ(refusal(make_table({{}}, {}), {}), "training data: there are no rows");
  EXPECT_EQ(refusal(make_table({}, {0, 1}), {}), "training data: there are no feature columns");
  EXPECT_EQ(refusal(table::Table({.features = {"x"}}, 2, {0, 2}), {}), "training data: there is no label column");
}

TEST(TrainBadArgTest, LabelsWhoseSquaresOverflowAreRefused) {
  EXPECT_EQ(refusal(make_table({{1, 2, 3, 4}}, {-3.4e38F, -3.4e38F, -3.4e38F, 3.4e38F}),
                    {.objective = Objective::kSquaredError}),
            "training data: labels or weights are too large: the loss overflows");
}

TEST(TrainBadArgTest, ValidationDataMustFitTheTrainingData) {
  table::Table unnamed({.features = {"other"}, .label = "y"}, 1, {0, 1});
  unnamed.label()[0] = 0;
  EXPECT_EQ(refusal(fine_table(), {}, &unnamed), "the data lacks columns that the model needs: x0");
  const table::Table wrong_label = make_table({{1}}, {3});
  EXPECT_EQ(refusal(fine_table(), {}, &wrong_label),
            "validation data: label of row 0 is 3, allowed is 0 or 1" + kTwoClasses);
  const table::Table fine = fine_table();
  EXPECT_EQ(refusal(fine_table(), {.validation_fraction = 0.5}, &fine),
            "validation data and validation-fraction are both given, allowed is one of them");
  EXPECT_EQ(refusal(fine_table(), {.validation_fraction = 1e-9}), "validation data: there are no rows with a weight");
}

}  // namespace
}  // namespace podere::tree
