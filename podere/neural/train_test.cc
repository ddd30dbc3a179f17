#include "podere/neural/train.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "podere/evaluate/classification.h"
#include "podere/neural/predict.h"
#include "podere/neural/test_training.h"

namespace podere::neural {
namespace {

double auc_on_new_rows(const Model& model) {
  const table::Table fresh = random_table({.seed = 2}, alone());
  return evaluate::auc(alone(), predict(model, fresh, 2), fresh.label(), {});
}

TEST(TrainTest, EveryOptimizerLearnsWhatNoLinearModelCan) {
  const table::Table table = random_table({.n_rows = 8000}, alone());
  const Options linear{.hidden = {}, .optimizer = Optimizer::kLbfgs, .epochs = 50};
  EXPECT_LT(auc_on_new_rows(train_alone(table, linear)), 0.75);
  for (const Options& options :
       {Options{.hidden = {16, 16}, .activation = Activation::kTanh, .optimizer = Optimizer::kLbfgs, .epochs = 150},
        Options{.hidden = {32}, .optimizer = Optimizer::kSgd, .epochs = 40, .batch_size = 64, .learning_rate = 0.1},
        Options{.hidden = {32}, .epochs = 30, .batch_size = 64, .learning_rate = 0.01},
        Options{.hidden = {32}, .optimizer = Optimizer::kAdamW, .epochs = 30, .batch_size = 64, .learning_rate = 0.01},
        Options{.hidden = {64}, .epochs = 40, .batch_size = 64, .learning_rate = 0.01, .dropout = 0.2}}) {
    const Model model = train_alone(table, options);
    EXPECT_GT(auc_on_new_rows(model), 0.95) << to_string(options.optimizer);
    EXPECT_LT(model.history.train_loss.back(), model.history.train_loss.front());
  }
}

TEST(TrainTest, ClassesAndNumbersAreLearnedToo) {
  for (const Loss loss : {Loss::kCrossEntropy, Loss::kSquaredError}) {
    const table::Table table = random_table({.n_rows = 8000, .loss = loss}, alone());
    const Model model =
        train_alone(table, {.loss = loss, .hidden = {32}, .epochs = 40, .batch_size = 64, .learning_rate = 0.01});
    EXPECT_EQ(model.n_outputs(), loss == Loss::kCrossEntropy ? 3U : 1U);
    const table::Table fresh = random_table({.loss = loss, .seed = 2}, alone());
    const std::vector<float> predicted = predict(model, fresh, 2);
    double n_right = 0;
    for (std::size_t i = 0; i < fresh.n_rows(); ++i) {
      if (loss == Loss::kSquaredError) {
        n_right += std::abs(predicted[i] - fresh.label()[i]) < 0.3 ? 1 : 0;
      } else {
        const auto label = static_cast<std::size_t>(fresh.label()[i]);
        bool is_largest = true;
        for (std::size_t k = 0; k < 3; ++k) {
          is_largest = is_largest && predicted[k * fresh.n_rows() + i] <= predicted[label * fresh.n_rows() + i];
        }
        n_right += is_largest ? 1 : 0;
      }
    }
    EXPECT_GT(n_right / static_cast<double>(fresh.n_rows()), 0.85) << to_string(loss);
  }
}

/// The share of the labels' variance that predictions have.
double r_squared(const std::vector<float>& predicted, std::span<const float> label) {
  const double mean = std::accumulate(label.begin(), label.end(), 0.0) / static_cast<double>(label.size());
  double residual = 0, total = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    residual += std::pow(predicted[i] - static_cast<double>(label[i]), 2);
    total += std::pow(label[i] - mean, 2);
  }
  return 1 - residual / total;
}

TEST(TrainTest, NumbersOfAnyScaleAreLearnedAlike) {
  const auto learned = [](double shift, double scale) {
    const auto rows = [&](std::uint64_t seed) {
      table::Table table = random_table({.n_rows = 4000, .loss = Loss::kSquaredError, .seed = seed}, alone());
      for (float& label : table.label()) label = static_cast<float>(shift + scale * label);
      return table;
    };
    const Options options{
        .loss = Loss::kSquaredError, .hidden = {32}, .epochs = 40, .batch_size = 64, .learning_rate = 0.01};
    const table::Table fresh = rows(2);
    const Model model = train_alone(rows(1), options, &fresh);
    EXPECT_LT(model.history.train_loss.back(), 0.05) << "losses are of scaled labels";
    EXPECT_LT(model.history.validation_loss.back(), 0.05);
    return r_squared(predict(model, fresh, 2), fresh.label());
  };
  const double plain = learned(0, 1);
  EXPECT_GT(plain, 0.95);
  EXPECT_NEAR(learned(50000, 10000), plain, 0.01);
  EXPECT_NEAR(learned(0, 1e-6), plain, 0.01);
  EXPECT_NEAR(learned(-3e7, 1e6), plain, 0.01);
}

TEST(TrainTest, TheScaleOfNumbersIsThatOfTheRowsThatCount) {
  table::Table table = random_table({.n_rows = 3000, .loss = Loss::kSquaredError, .has_weight = true}, alone());
  const Options options{.loss = Loss::kSquaredError, .hidden = {2}, .epochs = 1, .validation_fraction = 0.3};
  double sum = 0, squares = 0, n = 0;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const bool counts = is_training_row({i}, options) && i % 5 != 0;
    if (i % 5 == 0) table.weight()[i] = 0;
    if (counts) table.label()[i] += 7;
    if (!counts) table.label()[i] = 1e6F;
    if (counts) sum += table.label()[i], ++n;
  }
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.label()[i] != 1e6F) squares += std::pow(table.label()[i] - sum / n, 2);
  }
  const Model model = train_alone(table, options);
  EXPECT_NEAR(model.target.mean, sum / n, 1e-12 * sum / n);
  EXPECT_NEAR(model.target.scale, std::sqrt(squares / n), 1e-12);
  Options as_they_are = options;
  as_they_are.standardize_target = false;
  EXPECT_EQ(train_alone(table, as_they_are).target, TargetScaling());
  std::ranges::fill(table.label(), 5.0F);
  EXPECT_EQ(train_alone(table, options).target, (TargetScaling{5, 1}));
}

TEST(TrainTest, AModelThatIsContinuedKeepsItsScaleOfNumbers) {
  const table::Table table = random_table({.loss = Loss::kSquaredError}, alone());
  table::Table others = random_table({.loss = Loss::kSquaredError}, alone());
  for (float& label : others.label()) label = 3 * label + 1;
  const Options options{.loss = Loss::kSquaredError, .hidden = {8}, .epochs = 2};
  const Model base = train_alone(table, options);
  const Model more = train_alone(others, options, nullptr, {.base = &base});
  EXPECT_EQ(more.target, base.target);
  EXPECT_NE(train_alone(others, options).target, base.target);
}

TEST(TrainTest, LabelsThatKeepAnotherScaleAreWarnedOf) {
  struct Warned final : Progress {
    void warn(const std::string& message) override { messages.push_back(message); }
    std::vector<std::string> messages;
  };
  const auto warnings = [](float scale, Loss loss, bool standardizes = false) {
    table::Table table = random_table({.n_rows = 1100, .loss = loss}, alone());
    for (float& label : table.label()) label *= scale;
    Warned progress;
    train(table::HeldRows(std::move(table)), nullptr,
          {.loss = loss, .hidden = {2}, .epochs = 1, .standardize_target = standardizes}, alone(), 1, progress);
    return progress.messages;
  };
  EXPECT_TRUE(warnings(1, Loss::kSquaredError).empty());
  EXPECT_TRUE(warnings(0, Loss::kSquaredError).empty());
  EXPECT_TRUE(warnings(1, Loss::kBinaryCrossEntropy).empty());
  for (const float scale : {1e-6F, 1e6F}) {
    const auto messages = warnings(scale, Loss::kSquaredError);
    ASSERT_EQ(messages.size(), 1U) << scale;
    EXPECT_TRUE(messages[0].starts_with("the labels are of size ")) << messages[0];
    EXPECT_TRUE(warnings(scale, Loss::kSquaredError, true).empty());
  }
}

TEST(TrainTest, ARowOfWeightTwoIsTwoRowsToLbfgs) {
  table::Table weighted = random_table({.n_rows = 400, .has_weight = true}, alone());
  table::Schema schema = weighted.schema();
  schema.weight.reset();
  table::Table repeated(schema, 600, {0, 600});
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t j = 0; j < 6; ++j) repeated.feature(j)[i] = weighted.feature(j)[i % 400];
    repeated.label()[i] = weighted.label()[i % 400];
    if (i < 400) weighted.weight()[i] = i < 200 ? 2.0F : 1.0F;
  }
  const Options options{.hidden = {8}, .optimizer = Optimizer::kLbfgs, .epochs = 5, .standardize = false, .seed = 3};
  const Model a = train_alone(weighted, options);
  const Model b = train_alone(repeated, options);
  for (std::size_t i = 0; i < a.history.train_loss.size(); ++i) {
    EXPECT_NEAR(a.history.train_loss[i], b.history.train_loss[i], 1e-3 * b.history.train_loss[i]);
  }
}

TEST(TrainTest, EarlyStoppingKeepsTheBestEpoch) {
  const table::Table table = random_table({.n_rows = 600}, alone());
  const table::Table other = random_table({.n_rows = 600, .seed = 5}, alone());
  const Model model = train_alone(
      table, {.hidden = {200}, .epochs = 500, .batch_size = 32, .learning_rate = 0.02, .early_stopping_epochs = 5},
      &other);
  const std::vector<double>& losses = model.history.validation_loss;
  ASSERT_LT(losses.size(), 500U);
  EXPECT_EQ(std::ranges::min_element(losses) - losses.begin(), static_cast<long>(losses.size()) - 1);
  EXPECT_NEAR(evaluate::log_loss(alone(), predict(model, other, 1), other.label(), {}), losses.back(), 1e-12);
}

TEST(TrainTest, RowsSetAsideDoNotShapeTheModel) {
  const Options options{.hidden = {8}, .epochs = 3, .standardize = false, .validation_fraction = 0.3};
  table::Table table = random_table({.n_rows = 2500}, alone());
  const Model before = train_alone(table, options);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (is_training_row({i}, options)) continue;
    table.label()[i] = 1 - table.label()[i];
    table.feature(0)[i] = 0;
  }
  const Model after = train_alone(table, options);
  EXPECT_EQ(before.weights, after.weights);
  EXPECT_NE(before.history.validation_loss, after.history.validation_loss);
}

TEST(TrainTest, AMissingValueIsTheMeanWhereThatIsAskedFor) {
  table::Table table = random_table({.has_missing = true}, alone());
  const Options options{.hidden = {8}, .epochs = 2, .impute = true};
  const Model model = train_alone(table, options);
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    for (float& x : table.feature(j)) x = x != x ? static_cast<float>(model.scaling.mean[j]) : x;
  }
  const std::vector<float> of_means = predict(model, table, 1);
  const std::vector<float> of_missing = predict(model, random_table({.has_missing = true}, alone()), 1);
  for (std::size_t i = 0; i < of_means.size(); ++i) ASSERT_NEAR(of_means[i], of_missing[i], 1e-4);
}

TEST(TrainTest, ALastStepBeyondAllNumbersIsRefusedToo) {
  // No loss is computed after it.
  const table::Table table = random_table({.n_rows = 2000}, alone());
  const Options options{
      .hidden = {4}, .optimizer = Optimizer::kSgd, .epochs = 1, .batch_size = 2048, .learning_rate = 1e60};
  EXPECT_THROW(train_alone(table, options), InputError);
}

TEST(TrainTest, AModelCanBeContinued) {
  const table::Table table = random_table({}, alone());
  const Options options{.hidden = {16}, .epochs = 4};
  const Model base = train_alone(table, options);
  const Model more = train_alone(table, options, nullptr, {.base = &base});
  EXPECT_LT(more.history.train_loss.front(), base.history.train_loss.front());
  Options other = options;
  other.hidden = {17};
  EXPECT_THROW(train_alone(table, other, nullptr, {.base = &base}), InputError);
}

TEST(TrainTest, AModelIsContinuedOnRowsThatHaveNotAllOfItsClasses) {
  const Options options{.loss = Loss::kCrossEntropy, .hidden = {8}, .epochs = 1};
  const Model base = train_alone(random_table({.loss = Loss::kCrossEntropy}, alone()), options);
  ASSERT_EQ(base.n_outputs(), 3U);
  const table::Table two_classes = random_table({.seed = 2}, alone());
  EXPECT_EQ(train_alone(two_classes, options, nullptr, {.base = &base}).n_outputs(), 3U);
}

TEST(TrainTest, AStopEndsTheRunWithTheModelSoFar) {
  class Stopping : public Progress {
   public:
    bool stop_requested() override { return ++n_asked > 25; }
    int n_asked = 0;
  };
  Stopping progress;
  const table::Table table = random_table({}, alone());
  const Model model =
      train(table::HeldRows(table), nullptr, {.hidden = {8}, .epochs = 1000, .batch_size = 32}, alone(), 1, progress);
  EXPECT_LT(model.history.train_loss.size(), 3U);
  EXPECT_TRUE(std::isfinite(predict(model, table, 1)[0]));
}

/// Trains to a checkpoint after `stop_after` steps, and on from there.
Model stop_and_resume(const table::Table& table, const Options& options, int stop_after) {
  std::optional<Checkpoint> kept;
  int n_steps = 0;
  train_alone(table, options, nullptr, {.hooks = {[&](const AfterStep& after) {
                                          if (++n_steps == stop_after) kept = after.make_checkpoint();
                                        }}});
  EXPECT_TRUE(kept);
  // By way of a file, as it is kept.
  const Checkpoint read = checkpoint_from_text(to_text(*kept), "checkpoint");
  return train_alone(table, options, nullptr, {.checkpoint = &read});
}

TEST(TrainTest, ARunThatWasStoppedEndsAsOneThatWasNot) {
  const table::Table table = random_table({.has_weight = true}, alone());
  for (const Options& options :
       {Options{.hidden = {16}, .epochs = 3, .batch_size = 200, .dropout = 0.1, .validation_fraction = 0.2},
        Options{.hidden = {16},
        .optimizer = Optimizer::kSgd,
        .epochs = 3,
        .batch_size = 200,
        .schedule = Schedule::kCosine},
        Options{
            .hidden = {16}, .epochs = 9, .learning_rate = 0.3, .validation_fraction = 0.2, .early_stopping_epochs = 2},
        Options{.loss = Loss::kSquaredError, .hidden = {8}, .epochs = 3, .batch_size = 200},
        Options{.hidden = {8}, .activation = Activation::kSigmoid, .optimizer = Optimizer::kLbfgs, .epochs = 12}}) {
    const std::string whole = to_text(train_alone(table, options));
    for (const int stop_after : {1, 2, 5, 6}) {
      EXPECT_EQ(to_text(stop_and_resume(table, options, stop_after)), whole)
          << to_string(options.optimizer) << " stopped after step " << stop_after;
    }
  }
}

TEST(TrainTest, HooksSeeEveryStepOfTheRun) {
  const table::Table table = random_table({.n_rows = 640}, alone());
  std::vector<std::size_t> steps;
  std::vector<bool> ends;
  std::vector<double> rates;
  double loss = 0;  // sum over the first epoch
  std::size_t n_validated = 0;
  const Hook watch = [&](const AfterStep& after) {
    steps.push_back(after.n_steps);
    ends.push_back(after.is_epoch_over);
    rates.push_back(after.learning_rate);
    if (after.n_steps <= after.steps_per_epoch) loss += after.loss;
    EXPECT_EQ(after.quality.has_value(), after.is_epoch_over);
    if (after.quality) {
      ++n_validated;
      EXPECT_GT(after.quality->accuracy.value(), 0.3);
    }
    EXPECT_EQ(after.weights.size(), after.layout.size());
  };
  const table::Table other = random_table({.n_rows = 640, .seed = 9}, alone());
  const Model model = train_alone(table,
                                  {.hidden = {8},
                                   .epochs = 2,
                                   .batch_size = 64,
                                   .learning_rate = 0.01,
                                   .schedule = Schedule::kExponential,
                                   .learning_rate_decay = 0.5},
                                  &other, {.hooks = {watch}});
  ASSERT_EQ(steps.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(steps[i], i + 1);
    EXPECT_EQ(ends[i], i % 10 == 9);
    EXPECT_DOUBLE_EQ(rates[i], i < 10 ? 0.01 : 0.005);
  }
  EXPECT_EQ(n_validated, 2U);
  EXPECT_NEAR(loss / 10, model.history.train_loss[0], 1e-6);
}

TEST(TrainTest, EndsAtAStepAndResumesFromThere) {
  const table::Table table = random_table({.n_rows = 640}, alone());
  const Options options{.hidden = {8}, .epochs = 3, .batch_size = 64};
  std::optional<Checkpoint> last;
  const Hook keep = [&](const AfterStep& after) { last = after.make_checkpoint(); };
  const Model some = train_alone(table, options, nullptr, {.hooks = {keep}, .max_steps = 13});
  EXPECT_EQ(some.history.train_loss.size(), 1U);
  EXPECT_EQ(some.weights, last->model.weights);
  const Model more = train_alone(table, options, nullptr, {.checkpoint = &*last, .max_steps = 17});
  EXPECT_EQ(more.history.train_loss.size(), 1U);
  EXPECT_NE(more.weights, some.weights);
  EXPECT_EQ(to_text(train_alone(table, options, nullptr, {.checkpoint = &*last})),
            to_text(train_alone(table, options)));
}

TEST(TrainTest, ACheckpointOfAnotherRunIsRefused) {
  const table::Table table = random_table({}, alone());
  std::optional<Checkpoint> kept;
  train_alone(table, {.hidden = {16}, .epochs = 1}, nullptr,
              {.hooks = {[&](const AfterStep& after) { kept = after.make_checkpoint(); }}});
  EXPECT_THROW(train_alone(table, {.hidden = {16}, .epochs = 2}, nullptr, {.checkpoint = &*kept}), InputError);
  EXPECT_THROW(
      train_alone(random_table({.seed = 9}, alone()), {.hidden = {16}, .epochs = 1}, nullptr, {.checkpoint = &*kept}),
      InputError);
}

}  // namespace
}  // namespace podere::neural
