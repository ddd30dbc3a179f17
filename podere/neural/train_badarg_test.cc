// What training refuses, and in which words.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/neural/test_training.h"

namespace podere::neural {
namespace {

std::string refusal(const std::function<void()>& request) {
  try {
    request();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

struct BadOptions {
  Options options;
  const char* says;
};

TEST(NetworkOptionsTest, EachIsHeldToItsRange) {
  const std::vector<BadOptions> all = {
      {{.n_classes = 3}, "classes is 3, allowed is 0: only cross-entropy has classes to count"},
      {{.loss = Loss::kCrossEntropy, .n_classes = 1},
       "classes is 1, allowed is 0 (found from the labels) or 2 to 1000"},
      {{.hidden = {10, 0}}, "layers is 0, allowed is widths from 1 to 4096"},
      {{.hidden = {4097}}, "layers is 4097, allowed is widths from 1 to 4096"},
      {{.hidden = std::vector<int>(65, 1)}, "layers are 65, allowed are at most 64"},
      {{.epochs = 0}, "epochs is 0, allowed is 1 to 1000000"},
      {{.optimizer = Optimizer::kLbfgs, .epochs = -1}, "iterations is -1, allowed is 1 to 1000000"},
      {{.batch_size = -1}, "batch-size is -1, allowed is 0 (a hundredth of the rows) or 1 to 1048576"},
      {{.learning_rate = 0}, "learning-rate is 0, allowed is above 0, at most 1e6"},
      {{.learning_rate = 1e50}, "learning-rate is 1e+50, allowed is above 0, at most 1e6"},
      {{.learning_rate = kNaN}, "learning-rate is nan, allowed is above 0, at most 1e6"},
      {{.learning_rate_decay = 1.5}, "learning-rate-decay is 1.5, allowed is above 0, at most 1"},
      {{.momentum = 1}, "momentum is 1, allowed is 0 or more, below 1"},
      {{.beta1 = -1}, "beta1 is -1, allowed is 0 or more, below 1"},
      {{.beta2 = 1}, "beta2 is 1, allowed is 0 or more, below 1"},
      {{.epsilon = 0}, "epsilon is 0, allowed is above 0"},
      {{.l2 = -1}, "l2 is -1, allowed is 0 to 1e12"},
      {{.l2 = 1e50}, "l2 is 1e+50, allowed is 0 to 1e12"},
      {{.weight_decay = -1}, "weight-decay is -1, allowed is 0 to 1e12"},
      {{.weight_decay = 1e50}, "weight-decay is 1e+50, allowed is 0 to 1e12"},
      {{.clip_norm = -1}, "clip-norm is -1, allowed is 0 (none) or more"},
      {{.dropout = 1}, "dropout is 1, allowed is 0 or more, below 1"},
      {{.optimizer = Optimizer::kLbfgs, .dropout = 0.5}, "dropout is 0.5, allowed is 0 with lbfgs"},
      {{.optimizer = Optimizer::kLbfgs, .clip_norm = 1}, "clip-norm is 1, allowed is 0 with lbfgs"},
      {{.history = 0}, "history is 0, allowed is 1 to 100"},
      {{.tolerance = -1}, "tolerance is -1, allowed is 0 or more"},
      {{.validation_fraction = 1}, "validation-fraction is 1, allowed is 0 or more, below 1"},
      {{.early_stopping_epochs = -1}, "early-stopping is -1, allowed is 0 (never) or more"},
  };
  for (const BadOptions& bad : all) {
    EXPECT_EQ(refusal([&] { validate(bad.options); }), bad.says);
  }
  EXPECT_EQ(refusal([] { parse_name<Initialization>("zero"); }),
            "initialization is 'zero', allowed are glorot, he, pytorch");
  EXPECT_EQ(refusal([] { parse_name<Activation>("swish"); }),
            "activation is 'swish', allowed are identity, relu, sigmoid, tanh");
}

TEST(NetworkOptionsTest, ThoseThatAreNotUsedAreRefused) {
  const std::vector<BadOptions> all = {
      {{.optimizer = Optimizer::kLbfgs, .batch_size = 64},
       "batch-size is 64, which is for the optimizers sgd, adam and adamw, not for lbfgs"},
      {{.optimizer = Optimizer::kLbfgs, .learning_rate = 0.5},
       "learning-rate is 0.5, which is for the optimizers sgd, adam and adamw, not for lbfgs"},
      {{.optimizer = Optimizer::kLbfgs, .schedule = Schedule::kCosine},
       "schedule is cosine, which is for the optimizers sgd, adam and adamw, not for lbfgs"},
      {{.learning_rate_decay = 0.5},
       "learning-rate-decay is 0.5, which is for the schedule exponential, not for constant"},
      {{.tolerance = 0}, "tolerance is 0, which is for the optimizer lbfgs, not for adam"},
      {{.history = 3}, "history is 3, which is for the optimizer lbfgs, not for adam"},
      {{.momentum = 0.5}, "momentum is 0.5, which is for the optimizer sgd, not for adam"},
      {{.optimizer = Optimizer::kSgd, .weight_decay = 0.1},
       "weight-decay is 0.1, which is for the optimizer adamw, not for sgd"},
  };
  for (const BadOptions& bad : all) {
    EXPECT_EQ(refusal([&] { check_all_are_used(bad.options); }), bad.says);
  }
  check_all_are_used({.optimizer = Optimizer::kLbfgs, .epochs = 7, .history = 3, .tolerance = 0});
  check_all_are_used({.optimizer = Optimizer::kSgd, .learning_rate = 0.5, .momentum = 0});
  check_all_are_used({.optimizer = Optimizer::kAdamW, .batch_size = 64, .weight_decay = 0});
  check_all_are_used({.schedule = Schedule::kExponential, .learning_rate_decay = 0.5});
}

TEST(NetworkTrainBadArgTest, DataAreHeldToWhatANetworkTakes) {
  const Options options{.hidden = {4}, .epochs = 1};
  const auto refused = [&](const std::function<void(table::Table&)>& change, const Options& with) {
    table::Table table = random_table({.n_rows = 50}, alone());
    change(table);
    return refusal([&] { train_alone(table, with); });
  };
  EXPECT_EQ(refused([](auto& t) { t.feature(3)[7] = std::nanf(""); }, options),
            "training data: feature 'x3' of row 7 is missing (NaN), allowed are finite numbers; networks trained with "
            "impute take the mean for it");
  Options imputing = options;
  imputing.impute = true;
  EXPECT_EQ(refused([](auto& t) { t.feature(3)[7] = -std::numeric_limits<float>::infinity(); }, imputing),
            "training data: feature 'x3' of row 7 is -inf, allowed are finite numbers of float32");
  EXPECT_EQ(refused([](auto& t) { t.label()[9] = 2; }, options),
            "training data: label of row 9 is 2, allowed is 0 or 1: encode two classes so; for more use --loss "
            "cross-entropy, for numbers squared-error");
  EXPECT_EQ(refused([](auto& t) { t.label()[9] = 2.5; }, {.loss = Loss::kCrossEntropy}),
            "training data: label of row 9 is 2.5, allowed is a whole number from 0 to 999: encode classes as 0, 1, 2, "
            "...");
  EXPECT_EQ(
      refused([](auto& t) { t.label()[9] = 5; }, {.loss = Loss::kCrossEntropy, .n_classes = 3}),
      "training data: label of row 9 is 5, allowed is a whole number from 0 to 2: encode classes as 0, 1, 2, ...");
  EXPECT_EQ(refused([](auto&) {}, {.early_stopping_epochs = 2}),
            "early-stopping needs validation data or a validation-fraction");

  const table::Table none(table::Schema{.features = {"a"}, .label = "y"}, 0, {0, 0});
  EXPECT_EQ(refusal([&] { train_alone(none, options); }), "training data: there are no rows");
  const table::Table no_label(table::Schema{.features = {"a"}}, 5, {0, 5});
  EXPECT_EQ(refusal([&] { train_alone(no_label, options); }), "training data: there is no label column");
  const table::Table no_features(table::Schema{.label = "y"}, 5, {0, 5});
  EXPECT_EQ(refusal([&] { train_alone(no_features, options); }), "there are no feature columns");
  table::Schema with_categories{.features = {"a", "b"}, .label = "y"};
  with_categories.categories[1] = std::nullopt;
  EXPECT_EQ(refusal([&] {
              train_alone(table::Table(with_categories, 5, {0, 5}), options);
            }),
            "'b' has codes of categories, a network needs their texts");
}

TEST(NetworkTrainBadArgTest, ValidationDataAreOfTheKindOfThoseTrainedOn) {
  const table::Table table = random_table({.n_rows = 50}, alone());
  const auto refused = [&](const RandomTable& want, const std::function<void(table::Table&)>& change,
                           const Options& options = {.hidden = {4}, .epochs = 1}) {
    table::Table validation = random_table(want, alone());
    change(validation);
    return refusal([&] { train_alone(table, options, &validation); });
  };
  const auto as_it_is = [](table::Table&) {};
  EXPECT_EQ(refused({.n_rows = 50}, as_it_is), "nothing was refused");
  EXPECT_EQ(refused({.n_rows = 50, .n_features = 4}, as_it_is), "the data lacks columns that the model needs: x4, x5");
  EXPECT_EQ(refused({.n_rows = 50}, [](auto& t) { t.label()[9] = 2; }),
            "validation data: label of row 9 is 2, allowed is 0 or 1: encode two classes so; for more use --loss "
            "cross-entropy, for numbers squared-error");
  EXPECT_EQ(refused({.n_rows = 50}, [](auto& t) { t.label()[9] = 2; }, {.loss = Loss::kCrossEntropy, .hidden = {4}}),
            "validation data: label of row 9 is 2, allowed is a whole number from 0 to 1: encode classes as 0, 1, 2, "
            "...");
  EXPECT_EQ(refused({.n_rows = 50}, [](auto& t) { t.feature(3)[7] = std::nanf(""); }),
            "validation data: feature 'x3' of row 7 is missing (NaN), allowed are finite numbers; networks trained "
            "with impute take the mean for it");
  EXPECT_EQ(refused({.n_rows = 0}, as_it_is), "validation data: there are no rows");
  EXPECT_EQ(refused({.n_rows = 50}, as_it_is, {.validation_fraction = 0.5}),
            "validation data and validation-fraction are both given, allowed is one of them");
}

TEST(NetworkTrainBadArgTest, LabelsOfMinusOneAreRefusedWithAdvice) {
  for (const Loss loss : {Loss::kBinaryCrossEntropy, Loss::kCrossEntropy}) {
    table::Table table = random_table({.n_rows = 50}, alone());
    table.label()[3] = -1;
    const std::string message = refusal([&] { train_alone(table, {.loss = loss, .hidden = {4}, .epochs = 1}); });
    EXPECT_TRUE(
        message.ends_with("if -1 is a class, write 0 instead, such as with sed 's/^-1\\b/0/' if labels are the "
                          "first column"))
        << message;
  }
}

TEST(NetworkTrainBadArgTest, ACheckpointOfAnotherRunIsRefusedWithWhatDiffers) {
  const Options options{.hidden = {4}, .epochs = 1, .batch_size = 32};
  const RandomTable rows{.n_rows = 1500};
  std::optional<Checkpoint> kept;
  train_alone(random_table(rows, alone()), options, nullptr,
              {.hooks = {[&](const AfterStep& after) { kept = after.make_checkpoint(); }}});
  const auto refused = [&](const RandomTable& want, const std::function<void(Options&)>& change) {
    Options other = options;
    change(other);
    std::string message =
        refusal([&] { train_alone(random_table(want, alone()), other, nullptr, {.checkpoint = &*kept}); });
    const std::string begin = "the checkpoint is of another run: ";
    const std::string end = "; give the same, or another file for checkpoints";
    EXPECT_TRUE(message.starts_with(begin) && message.ends_with(end)) << message;
    return message.size() < begin.size() + end.size()
               ? message
               : message.substr(begin.size(), message.size() - begin.size() - end.size());
  };
  const auto same = [](Options&) {};
  constexpr const char* kOthers = "labels, weights or the order of rows are others";
  EXPECT_EQ(refused(rows, [](Options& o) { o.learning_rate = 0.01; }), "learning-rate was 0.001, is 0.01");
  EXPECT_EQ(refused(rows, [](Options& o) { o.hidden = {5, 6}; }), "layers was 4, is 5,6");
  EXPECT_EQ(refused(rows, [](Options& o) { o.hidden = {}; }), "layers was 4, is none");
  EXPECT_EQ(refused(rows, [](Options& o) { o.optimizer = Optimizer::kLbfgs; }), "optimizer was adam, is lbfgs");
  EXPECT_EQ(refused(rows, [](Options& o) { o.standardize = false; }), "standardize was true, is false");
  EXPECT_EQ(refused(rows, [](Options& o) { o.seed = 9; }), "seed was 0, is 9");
  EXPECT_EQ(refused({.n_rows = 1500, .seed = 9}, same), kOthers);
  EXPECT_EQ(refused({.n_rows = 1400}, same), "the data had 1500 rows, have 1400");
  EXPECT_EQ(refused({.n_rows = 1500, .n_features = 5}, same), "the data had 6 features, have 5");
  EXPECT_EQ(refused({.n_rows = 1500, .has_weight = true}, same), "the weight was none, is 'w'");
}

TEST(NetworkTrainBadArgTest, ACheckpointIsOfTheSameLabelsWeightsAndRowsToValidateOn) {
  const auto make_rows = [] { return random_table({.n_rows = 1500, .has_weight = true}, alone()); };
  const auto make_watched = [] { return random_table({.n_rows = 200, .has_weight = true, .seed = 2}, alone()); };
  for (const int patience : {0, 9}) {
    Options options{.hidden = {4}, .epochs = 2};
    options.standardize = false;
    options.early_stopping_epochs = patience;
    std::optional<Checkpoint> kept;
    const table::Table watched = make_watched();
    train_alone(make_rows(), options, &watched, {.hooks = {[&](const AfterStep& after) {
                                                   if (!kept) kept = after.make_checkpoint();
                                                 }}});
    const Checkpoint checkpoint = checkpoint_from_text(to_text(*kept), "c");
    const auto message = [&](const std::function<void(table::Table & rows, table::Table & watched)>& change) {
      table::Table other = make_rows();
      table::Table other_watched = make_watched();
      change(other, other_watched);
      return refusal([&] { train_alone(other, options, &other_watched, {.checkpoint = &checkpoint}); });
    };
    EXPECT_EQ(message([](auto&, auto&) {}), "nothing was refused");
    const char* const others = "labels, weights or the order of rows are others";
    EXPECT_NE(message([](auto& t, auto&) { t.label()[1499] = 1 - t.label()[1499]; }).find(others), std::string::npos);
    EXPECT_NE(message([](auto& t, auto&) { std::swap(t.weight()[3], t.weight()[4]); }).find(others), std::string::npos);
    const std::string of_watched = message([](auto&, auto& t) { t.weight()[7] *= 2; });
    EXPECT_EQ(of_watched.find("the validation data are others") != std::string::npos, patience > 0) << of_watched;
  }
}

}  // namespace
}  // namespace podere::neural
