// What the trainer refuses, and in which words.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/tree/objective.h"
#include "podere/tree/test_training.h"

namespace podere::tree {
namespace {

const std::string kTwoClasses = ": encode two classes so; for more use --objective softmax, for numbers squared-error";

std::string training_refusal(const table::Table& table, const Options& options,
                             const table::Table* validation = nullptr, const Model* base = nullptr) {
  try {
    train_alone(table, options, validation, base);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

table::Table fine_table() { return make_table({{1, 2, 3, 4}}, {0, 1, 0, 1}); }

std::string training_refusal(const Options& options) { return training_refusal(fine_table(), options); }

TEST(TrainBadArgTest, OptionsOutOfRangeAreNamedWithTheirValueAndWhatIsAllowed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(training_refusal({.n_trees = -1}), "trees is -1, allowed is 1 to 100000");
  EXPECT_EQ(training_refusal({.depth = 0}), "depth is 0, allowed is 1 to 30");
  EXPECT_EQ(training_refusal({.depth = 31}), "depth is 31, allowed is 1 to 30");
  EXPECT_EQ(training_refusal({.max_leaves = 1}), "max-leaves is 1, allowed is 0 (no limit) or at least 2");
  EXPECT_EQ(training_refusal({.bins = 257}), "bins is 257, allowed is 2 to 256");
  EXPECT_EQ(training_refusal({.learning_rate = nan}), "learning-rate is nan, allowed is above 0, at most 1");
  EXPECT_EQ(training_refusal({.lambda = -1}), "lambda is -1, allowed is 0 to 1e12");
  EXPECT_EQ(training_refusal({.lambda = nan}), "lambda is nan, allowed is 0 to 1e12");
  EXPECT_EQ(training_refusal({.lambda = 1e50}), "lambda is 1e+50, allowed is 0 to 1e12");
  EXPECT_EQ(training_refusal({.min_child_weight = -0.5}), "min-child-weight is -0.5, allowed is 0 or more");
  EXPECT_EQ(training_refusal({.min_gain = nan}), "min-gain is nan, allowed is 0 or more");
  EXPECT_EQ(training_refusal({.subsample = 0}), "subsample is 0, allowed is above 0, at most 1");
  EXPECT_EQ(training_refusal({.column_subsample = 1.5}), "column-subsample is 1.5, allowed is above 0, at most 1");
  EXPECT_EQ(training_refusal({.validation_fraction = 1}), "validation-fraction is 1, allowed is 0 or more, below 1");
  EXPECT_EQ(training_refusal({.early_stopping_rounds = 3}),
            "early-stopping needs validation data or a validation-fraction");
  EXPECT_EQ(training_refusal({.objective = Objective::kSoftmax, .n_classes = 1}),
            "classes is 1, allowed is 0 (found from the labels) or 2 to 1000");
  EXPECT_EQ(training_refusal({.n_classes = -1}), "classes is -1, allowed is 0: only softmax has classes to count");
  EXPECT_EQ(training_refusal({.n_classes = 2}), "classes is 2, allowed is 0: only softmax has classes to count");
  EXPECT_EQ(training_refusal({.quantile = 1}), "quantile is 1, allowed is above 0, below 1");
  EXPECT_EQ(training_refusal({.max_delta_step = 0}), "max-delta-step is 0, allowed is above 0");
  EXPECT_EQ(training_refusal({.best_first = true}),
            "max-leaves is 0, allowed is at least 2 where the best leaf is split first");
  EXPECT_EQ(training_refusal(Options{.min_child_weight = 0}), "accepted");
}

TEST(TrainBadArgTest, WhatIsNoCodeOfACategoryIsNamed) {
  for (const float value : {-1.0F, 1.5F, 16777216.0F, kInfinity}) {
    EXPECT_EQ(training_refusal(make_table({{1, 2, value}}, {0, 1, 0}, {}, {{0, std::nullopt}}), {}),
              fmt::format("training data: x0 of row 2 is {}, allowed is the code of a category, 0 to 16777215", value));
  }
}

TEST(TrainBadArgTest, ConstraintsNameFeaturesThatAreThere) {
  const std::string features = "; there are x0 (positions 0 to 0)";
  EXPECT_EQ(training_refusal({.monotone = "pt:+1"}), "monotone: there is no feature pt" + features);
  EXPECT_EQ(training_refusal({.monotone = "1:+1"}), "monotone: there is no feature 1" + features);
  EXPECT_EQ(training_refusal({.monotone = "x0:1,0:1"}), "monotone: 0 is given twice");
  EXPECT_EQ(training_refusal({.interactions = "x0;x0,eta"}), "interactions: there is no feature eta" + features);
  for (const char* const term : {"x0", "x0:", "x0:2", ":+1", "x0:+1:", ""}) {
    EXPECT_EQ(training_refusal({.monotone = fmt::format("x0:+1,{}", term)}),
              fmt::format("monotone has '{}', allowed is FEATURE:+1, FEATURE:-1 or FEATURE:0", term));
  }
  for (const char* const sets : {"x0,", ";x0", "x0;;x0", ","}) {
    EXPECT_EQ(training_refusal({.interactions = sets}),
              fmt::format("interactions is '{}', allowed are sets of features such as a,b;c,d,e", sets));
  }
  EXPECT_EQ(
      training_refusal({.objective = Objective::kSoftmax, .monotone = "x0:+1"}),
      "monotone is 'x0:+1', allowed with softmax is none: where all classes' margins rise, a probability may fall");
  EXPECT_EQ(training_refusal({.monotone = "x0:+1", .interactions = "0"}), "accepted");
}

TEST(TrainBadArgTest, LabelsOutsideTheirSetAreNamedWithTheRow) {
  const auto with_label = [](float label) { return make_table({{1, 2, 3}}, {0, 1, label}); };
  EXPECT_EQ(training_refusal(with_label(2), {}), "training data: label of row 2 is 2, allowed is 0 or 1" + kTwoClasses);
  EXPECT_EQ(training_refusal(with_label(kNaN), {}),
            "training data: label of row 2 is nan, allowed is a class: leave out rows whose label is missing");
  EXPECT_EQ(training_refusal(with_label(kInfinity), {.objective = Objective::kSquaredError}),
            "training data: label of row 2 is inf, allowed is a finite number");
  EXPECT_EQ(
      training_refusal(with_label(1.5F), {.objective = Objective::kSoftmax}),
      "training data: label of row 2 is 1.5, allowed is a whole number from 0 to 999: encode classes as 0, 1, 2, ...");
  EXPECT_EQ(
      training_refusal(with_label(5), {.objective = Objective::kSoftmax, .n_classes = 3}),
      "training data: label of row 2 is 5, allowed is a whole number from 0 to 2: encode classes as 0, 1, 2, ...");
}

constexpr const char* kOverflow =
    "training data: labels or weights are too large, or base-score or max-delta-step is: the loss overflows";

TEST(TrainBadArgTest, CountsAreFromZeroAndNotAllZero) {
  const Options poisson{.objective = Objective::kPoisson};
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {1, -1}), poisson),
            "training data: label of row 1 is -1, allowed is a finite number, 0 or more");
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {0, 0}), poisson),
            "training data: the mean of the labels is 0, allowed is above 0");
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {3e38F, 3e38F}), poisson), kOverflow);
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {1, 2}), {.objective = Objective::kPoisson, .max_delta_step = 100}),
            kOverflow);
}

TEST(TrainBadArgTest, OptionsOfAnotherObjectiveAreNotPassedOver) {
  EXPECT_EQ(training_refusal({.quantile = 0.3}),
            "quantile is 0.3, which is for the objective quantile, not for logistic");
  EXPECT_EQ(training_refusal({.objective = Objective::kQuantile, .max_delta_step = 1}),
            "max-delta-step is 1, which is for the objective poisson, not for quantile");
}

TEST(TrainBadArgTest, ClassWeightsAndBaseScoresMustFitTheObjective) {
  const Options numbers{.objective = Objective::kSquaredError};
  EXPECT_EQ(training_refusal({.class_weight = {1, 0}}), "class-weight is 0, allowed is above 0");
  EXPECT_EQ(training_refusal({.class_weight = {1, 1, 2}}), "class-weight names class 2, allowed are 0 to 1");
  EXPECT_EQ(training_refusal({.objective = Objective::kSoftmax, .class_weight = {1, 1, 2}}),
            "class-weight names class 2, allowed are 0 to 1");
  EXPECT_EQ(training_refusal({.objective = Objective::kSquaredError, .class_weight = {1}}),
            "class-weight is for classes, the objective is squared-error");
  EXPECT_EQ(training_refusal({.objective = Objective::kPoisson, .balance_classes = true}),
            "class-weight is for classes, the objective is poisson");
  EXPECT_EQ(training_refusal({.scale_pos_weight = -1}), "scale-pos-weight is -1, allowed is above 0");
  EXPECT_EQ(training_refusal({.objective = Objective::kSoftmax, .scale_pos_weight = 2}),
            "scale-pos-weight is for logistic, the objective is softmax");
  EXPECT_EQ(training_refusal({.base_score = 1}), "base-score is 1, allowed is above 0, below 1 (a probability)");
  EXPECT_EQ(training_refusal({.objective = Objective::kPoisson, .base_score = 0}),
            "base-score is 0, allowed is above 0 (a mean)");
  EXPECT_EQ(training_refusal({.objective = Objective::kQuantile, .base_score = kInfinity}),
            "base-score is inf, allowed is a finite number");
  EXPECT_EQ(training_refusal({.objective = Objective::kSoftmax, .base_score = 0.5}),
            "base-score does not go with softmax, whose classes begin with their shares");
  EXPECT_EQ(training_refusal(make_table({{1, 2, 3, 4}}, {0, 0, 1, 1}), {.class_weight = {1, 1e40}}),
            "training data: weight of row 2 is 1 times 1e+40 of its class, beyond float32");
  EXPECT_EQ(training_refusal(make_table({{1, 2, 3, 4}}, {0, 0, 1, 1}, {2, 1, 1, -2}), {.balance_classes = true}),
            "training data: the weights of class 1 sum to -1, class-weight balanced needs 0 or more");
}

TEST(TrainBadArgTest, AModelIsContinuedOnlyAsWhatItIs) {
  const auto train_from = [](const Model& base, const table::Table& table, const Options& options) {
    return training_refusal(table, options, nullptr, &base);
  };
  const table::Table table = make_table({{1, 2, 3, 4}, {4, 1, 3, 2}}, {0, 1, 0, 1});
  const Model base = train_alone(table, {.n_trees = 2});
  EXPECT_EQ(train_from(base, table, {.n_trees = 2, .depth = 3, .learning_rate = 0.5}), "accepted");
  EXPECT_EQ(train_from(base, table, {.objective = Objective::kSquaredError}),
            "objective is squared-error, the model to continue has logistic");
  EXPECT_EQ(train_from(base, make_table({{1, 2, 3, 4}}, {0, 1, 0, 1}), {}),
            "the data lacks columns that the model needs: x1");
  EXPECT_EQ(train_from(base, make_table({{1, 2}, {3, 4}, {5, 6}}, {0, 1}), {}),
            "the model to continue has the features x0,x1, the data x0,x1,x2: choose them in that order");
  table::Table turned({.features = {"x1", "x0"}, .label = "y"}, 2, {0, 2});
  EXPECT_EQ(train_from(base, turned, {}),
            "the model to continue has the features x0,x1, the data x1,x0: choose them in that order");
  table::Table coded({.features = {"x0", "x1"}, .label = "y", .categories = {{1, {}}}}, 2, {0, 2});
  EXPECT_EQ(train_from(base, coded, {}), "the model to continue and the data have other categories");
  EXPECT_EQ(train_from(base, table, {.n_trees = kMaxTrees}),
            "trees is 100000 beyond the 2 of the model to continue, allowed are 100000 in all");
  Options median{.objective = Objective::kQuantile, .n_trees = 2};
  const Model quantile = train_alone(table, median);
  median.quantile = 0.75;
  EXPECT_EQ(train_from(quantile, table, median), "quantile is 0.75, the model to continue has 0.5");
  const Options softmax{.objective = Objective::kSoftmax, .n_trees = 2};
  const Model classes = train_alone(table, softmax);
  EXPECT_EQ(train_from(classes, table, {.objective = Objective::kSoftmax, .n_classes = 3}),
            "classes is 3, the model to continue has 2");
}

TEST(TrainBadArgTest, LabelsOfOneClassAreRefused) {
  const char* message = "training data: the labels are all of one class, at least two classes with weight are needed";
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {1, 1}), {}), message);
  EXPECT_EQ(training_refusal(make_table({{1}}, {0}), {}), message);
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {0, 0}), {.objective = Objective::kSoftmax}), message);
  EXPECT_EQ(training_refusal(make_table({{1, 2}}, {0, 1}, {1, 0}), {}), message);
}

TEST(TrainBadArgTest, WeightsMustBeFiniteAndSumAboveZero) {
  const auto with_weight = [](float weight) { return make_table({{1, 2, 3}}, {0, 1, 0}, {1, 1, weight}); };
  EXPECT_EQ(training_refusal(with_weight(kNaN), {}),
            "training data: weight of row 2 is nan, allowed is a finite number");
  EXPECT_EQ(training_refusal(with_weight(kInfinity), {}),
            "training data: weight of row 2 is inf, allowed is a finite number");
  EXPECT_EQ(training_refusal(with_weight(-3), {}), "training data: the weights sum to -1, allowed is above 0");
  EXPECT_EQ(training_refusal(with_weight(-0.5), {}), "accepted");
}

TEST(TrainBadArgTest, ATableWithoutRowsLabelOrFeaturesIsRefused) {
  EXPECT_EQ(training_refusal(make_table({{}}, {}), {}), "training data: there are no rows");
  EXPECT_EQ(training_refusal(make_table({}, {0, 1}), {}), "training data: there are no feature columns");
  EXPECT_EQ(training_refusal(table::Table({.features = {"x"}}, 2, {0, 2}), {}),
            "training data: there is no label column");
}

TEST(TrainBadArgTest, LabelsWhoseSquaresOverflowAreRefused) {
  EXPECT_EQ(training_refusal(make_table({{1, 2, 3, 4}}, {-3.4e38F, -3.4e38F, -3.4e38F, 3.4e38F}),
                             {.objective = Objective::kSquaredError}),
            kOverflow);
}

TEST(TrainBadArgTest, ValidationDataMustFitTheTrainingData) {
  table::Table unnamed({.features = {"other"}, .label = "y"}, 1, {0, 1});
  unnamed.label()[0] = 0;
  EXPECT_EQ(training_refusal(fine_table(), {}, &unnamed), "the data lacks columns that the model needs: x0");
  const table::Table wrong_label = make_table({{1}}, {3});
  EXPECT_EQ(training_refusal(fine_table(), {}, &wrong_label),
            "validation data: label of row 0 is 3, allowed is 0 or 1" + kTwoClasses);
  const table::Table fine = fine_table();
  EXPECT_EQ(training_refusal(fine_table(), {.validation_fraction = 0.5}, &fine),
            "validation data and validation-fraction are both given, allowed is one of them");
  EXPECT_EQ(training_refusal(fine_table(), {.validation_fraction = 1e-9}),
            "validation data: there are no rows with a weight");
}

TEST(TrainBadArgTest, ACheckpointOfAnotherRunIsRefusedWithWhatDiffers) {
  const Options options{.class_weight = {1, 2}, .n_trees = 2};
  std::optional<Model> kept;
  const auto train_from = [&](const table::Table& table, const Options& with, const Model* checkpoint) {
    Progress progress;
    train(table::HeldRows(table), nullptr, with, alone(), 1, progress, nullptr,
          {.checkpoint = checkpoint, .offer = [&](const Model& grown) { kept = grown; }});
  };
  train_from(fine_table(), options, nullptr);
  Model checkpoint = *kept;
  const auto refused = [&](const table::Table& table, const std::function<void(Options&)>& change) -> std::string {
    Options other = options;
    change(other);
    try {
      train_from(table, other, &checkpoint);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto run = [](const std::string& difference) {
    return "the checkpoint is of another run: " + difference + "; give the same, or another file for checkpoints";
  };
  EXPECT_EQ(refused(fine_table(), [](Options&) {}), "accepted");
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.depth = 4; }), run("depth was 6, is 4"));
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.n_trees = 3; }), run("trees was 2, is 3"));
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.class_weight = {}; }), run("class-weight was 1,2, is none"));
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.balance_classes = true; }),
            run("class-weight was 1,2, is balanced"));
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.base_score = 0.5; }), run("base-score was none, is 0.5"));
  EXPECT_EQ(refused(fine_table(), [](Options& o) { o.monotone = "x0:+1"; }), run("monotone was none, is 'x0:+1'"));
  EXPECT_EQ(refused(fine_table(),
                    [](Options& o) {
                      o.class_weight = {};
                      o.objective = Objective::kPoisson;
                    }),
            run("objective was logistic, is poisson"));
  EXPECT_EQ(refused(fine_table(),
                    [](Options& o) {
                      o.best_first = true;
                      o.max_leaves = 4;
                      o.depth = 30;
                    }),
            run("growth was level, is best-first"));
  EXPECT_EQ(refused(make_table({{1, 2, 3, 4}}, {0, 1, 1, 1}), [](Options&) {}),
            run("labels, weights or the order of rows are others"));
  EXPECT_EQ(refused(make_table({{1, 2, 3, 4}}, {1, 0, 1, 0}), [](Options&) {}),
            run("labels, weights or the order of rows are others"));
  checkpoint.rows.reset();  // as of a whole model
  EXPECT_EQ(refused(make_table({{1, 2, 3, 4}}, {0, 1, 1, 1}), [](Options&) {}),
            run("the rows, or the model to continue, are others"));
  EXPECT_EQ(refused(make_table({{1, 2}, {1, 2}}, {0, 1}), [](Options&) {}), run("the data had 1 features, have 2"));
}

TEST(TrainBadArgTest, ObjectivesOfOtherProgramsModelsAreNotTrained) {
  const std::string refusal = training_refusal({.objective = Objective::kProbabilities, .n_classes = 2});
  EXPECT_EQ(
      refusal,
      "objective is probabilities, which only models of other programs have: those that are trained are logistic, "
      "squared-error, softmax, poisson, quantile");
  EXPECT_THROW(check_is_trained(Objective::kOneVersusAll), InputError);
  EXPECT_THROW(trained_objective("one-versus-all"), InputError);
  EXPECT_EQ(trained_objective("poisson"), Objective::kPoisson);
}

}  // namespace
}  // namespace podere::tree
