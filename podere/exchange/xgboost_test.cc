#include "podere/exchange/xgboost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/exchange/cases.h"
#include "podere/exchange/format.h"
#include "podere/neural/algorithm.h"
#include "podere/neural/predict.h"

namespace podere::exchange {
namespace {

const std::vector<std::string> kCases = {
    "xgboost/gbtree_binary_logistic", "xgboost/gbtree_binary_logistic_missing", "xgboost/gbtree_multiclass",
    "xgboost/gbtree_regression",      "xgboost/gbtree_categorical_binary",      "xgboost-3.2/binary",
    "xgboost-3.2/multiclass"};

std::string model_text(const std::string& name) { return case_text(name + ".model.json"); }

std::string refusal(const std::string& text) {
  try {
    from_xgboost(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

TEST(Xgboost, PredictsAsXgboostDoes) {
  for (const std::string& name : kCases) expect_case(name, from_xgboost(model_text(name)));
}

TEST(Xgboost, WhatIsWrittenIsReadBackWithTheSameMarginsBitForBit) {
  for (const std::string& name : kCases) {
    tree::Model model = from_xgboost(model_text(name));
    for (std::size_t k = 0; k < model.n_outputs(); ++k) model.base_margin[k] += 0.1 + static_cast<double>(k);
    const table::Table table = case_table(name, model);
    const tree::Model again = from_xgboost(to_xgboost(model));
    EXPECT_EQ(tree::predict_margins(again, table, 1), tree::predict_margins(model, table, 1)) << name;
    EXPECT_EQ(again.schema, model.schema) << name;
    for (std::size_t t = model.n_outputs(); t < model.trees.size(); ++t) EXPECT_EQ(again.trees[t], model.trees[t]);
  }
}

TEST(Xgboost, UbjsonIsReadBackAsWritten) {
  for (const std::string& name : kCases) {
    const tree::Model model = from_xgboost(to_xgboost(from_xgboost(model_text(name))));
    const std::string text = to_xgboost_ubjson(model);
    EXPECT_STREQ(read_model(text, "x").format.id, "xgboost-ubjson");
    EXPECT_EQ(to_xgboost(from_xgboost(text)), to_xgboost(model)) << name;
    const std::size_t step = text.size() / 100 + 7;  // each text takes as long as it is
    for (std::size_t n = 0; n < text.size(); n += step) EXPECT_NE(refusal(text.substr(0, n)), "read") << n;
  }
}

std::string binary_text(const std::string& name) { return case_text("others/xgboost_" + name); }

/// `text` with the 32-bit word at byte `place` replaced.
std::string with_word(std::string text, std::size_t place, std::int32_t word) {
  std::memcpy(text.data() + place, &word, sizeof word);
  return text;
}

TEST(Xgboost, BinaryModelsSayAsMuchAsJson) {
  for (const char* name : {"090_old_forest.bin", "152_old_forest.bin", "305_old_forest.deprecated"}) {
    const std::string text = binary_text(name);
    EXPECT_STREQ(read_model(text, "x").format.id, "xgboost-binary") << name;
    const tree::Model model = from_xgboost(text);
    EXPECT_EQ(model.options.objective, tree::Objective::kSoftmax);
    EXPECT_EQ(model.n_outputs(), 3U);
    EXPECT_EQ(model.trees.size(), 18U);  // three rounds of two trees for each class
    EXPECT_EQ(model.schema.features, (std::vector<std::string>{"f0", "f1", "f2", "f3"}));
    EXPECT_GT(model.trees[0].nodes[0].gain, 0);
    EXPECT_GT(model.trees[0].nodes[0].cover, 0);
    EXPECT_EQ(to_text(from_xgboost(text.starts_with("binf") ? text.substr(4) : "binf" + text)), to_text(model));
  }
}

/// Before 1.0 base scores were margins.
TEST(Xgboost, BaseScoresOfBinaryModelsAreMarginsBeforeOneDotZero) {
  const double log_odds = std::log(0.2 / 0.8);
  for (const char* name : {"090_old_dart.bin", "152_old_dart.bin", "305_old_dart.deprecated"})
    EXPECT_NEAR(from_xgboost(binary_text(name)).base_margin[0], log_odds, 1e-6) << name;
}

TEST(XgboostBadarg, BinaryModelsThatAreNotWholeOrLeadOutOfBoundsAreRefused) {
  for (const char* name : {"090_old_gamma.bin", "152_old_dart.bin", "305_old_gamma.deprecated"}) {
    const std::string text = binary_text(name);
    const std::size_t booster = text.find(name[8] == 'd' ? "dart" : "gbtree");
    ASSERT_NE(booster, std::string::npos) << name;
    const std::size_t trees = booster + (name[8] == 'd' ? 4 : 6), tree = trees + 160, nodes = tree + 148;
    const std::size_t start = text.starts_with("binf") ? 4 : 0;
    const auto expect_refused = [&](std::size_t place, std::int32_t word, const char* reason) {
      const std::string message = refusal(with_word(text, place, word));
      EXPECT_NE(message.find(reason), std::string::npos) << name << ": " << message;
    };
    expect_refused(trees, -1, "num_trees is -1");
    expect_refused(trees, 1 << 30, "not a whole model");
    expect_refused(tree, 2, "2 roots");
    expect_refused(tree + 4, -5, "num_nodes is -5");
    expect_refused(tree + 4, 1 << 30, "not a whole model");
    expect_refused(tree + 20, 7, "leaves of 7 numbers");
    expect_refused(nodes + 4, 1000000, "child");
    expect_refused(nodes + 4, 0, "child of two nodes");
    expect_refused(nodes + 8, -7, "child");
    expect_refused(nodes + 12, 4, "feature 4 of 4");
    expect_refused(start + 4, 0, "num_feature is 0");
    expect_refused(start + 8, 5, "num_class is 5");
    for (std::size_t n = start + 136; n + 16 < text.size(); n += 13) EXPECT_NE(refusal(text.substr(0, n)), "read") << n;
  }
}

TEST(XgboostBadarg, UbjsonThatIsDeeperOrLongerThanItsTextIsRefused) {
  using namespace std::string_literals;
  for (const std::string& value : {std::string(100000, '['), "[$Z#L\0\0\1\0\0\0\0\0"s, "[$[#L\0\0\1\0\0\0\0\0"s,
                                   "SL\x7f\xff\xff\xff\xff\xff\xff\xff"s, "L"s, "[#L\0\0\1\0\0\0\0\0"s})
    EXPECT_EQ(refusal("{L\0\0\0\0\0\0\0\1x"s + value), "is not a whole model (not valid UBJSON)");
}

TEST(Xgboost, ForestsTakeTurnsByClassAndDartWeighsItsTrees) {
  const std::string text = model_text("xgboost/gbtree_multiclass");
  auto file = SortedJson::parse(text);
  auto& booster = file["learner"]["gradient_booster"];
  auto& model = booster["model"];
  const tree::Model before = from_xgboost(text);
  // Two rounds of three classes become one of three classes with two trees each.
  const SortedJson trees = model["trees"];
  for (const std::size_t r : {0, 6}) {
    for (std::size_t i = 0; i < 6; ++i) {
      model["trees"][r + i] = trees[r + i / 2 + 3 * (i % 2)];
      model["tree_info"][r + i] = i / 2;
    }
  }
  EXPECT_EQ(from_xgboost(file.dump()).trees, before.trees);
  model["tree_info"][0] = 1;
  EXPECT_EQ(refusal(file.dump()), "has more trees of one class than of another");
  model["tree_info"][0] = 0;
  const std::vector<double> weights(12, 0.5);
  booster = {{"name", "dart"}, {"gbtree", {{"name", "gbtree"}, {"model", model}}}, {"weight_drop", weights}};
  const tree::Model dart = from_xgboost(file.dump());
  EXPECT_EQ(dart.trees[0].nodes.back().value, before.trees[0].nodes.back().value / 2);
  booster["weight_drop"] = std::vector<double>(11, 0.5);
  EXPECT_EQ(refusal(file.dump()), "has 11 weights (weight_drop) of 12 trees");
}

/// The trees of three classes as those of three targets.
std::string three_targets(const char* objective) {
  auto file = SortedJson::parse(model_text("xgboost/gbtree_multiclass"));
  file["learner"]["objective"] = {{"name", objective}, {"quantile_loss_param", {{"quantile_alpha", "[0.2,0.5,0.8]"}}}};
  file["learner"]["learner_model_param"].update({{"num_class", "0"}, {"num_target", "3"}, {"base_score", "[1,2,3]"}});
  return file.dump();
}

TEST(Xgboost, OfSeveralTargetsTheChosenOneIsRead) {
  tree::Model classes = from_xgboost(model_text("xgboost/gbtree_multiclass"));
  classes.base_margin = {1, 2, 3};
  const table::Table table = case_table("xgboost/gbtree_multiclass", classes);
  const std::vector<float> margins = tree::predict_margins(classes, table, 1);
  for (std::size_t k = 0; k < 3; ++k) {
    const tree::Model model = from_xgboost(three_targets("reg:squarederror"), k);
    const auto of_one = std::span(margins).subspan(k * table.n_rows(), table.n_rows());
    EXPECT_TRUE(std::ranges::equal(tree::predict(model, table, 1), of_one)) << k;
    EXPECT_EQ(model.options.n_trees, 4);
  }
  EXPECT_EQ(from_xgboost(three_targets("reg:quantileerror"), 2).options.quantile, 0.8);
  EXPECT_NE(refusal(three_targets("reg:quantileerror")).find("predicts 3 quantiles"), std::string::npos);
  EXPECT_THROW(from_xgboost(three_targets("reg:squarederror"), 3), InputError);
  EXPECT_THROW(from_xgboost(model_text(kCases[0]), 0), InputError) << "has one target";
}

/// Vector leaves of which the second number is twice the first, as 2.0 and as 3.2 writes them.
TEST(Xgboost, VectorLeavesBecomeATreeForEachOutput) {
  const std::string text = model_text("xgboost/gbtree_regression");
  const tree::Model scalar = from_xgboost(text);
  const table::Table table = case_table("xgboost/gbtree_regression", scalar);
  const auto sums = [&](tree::Model model) {
    model.base_margin = {0};
    return tree::predict_margins(model, table, 1);
  };
  std::vector<float> twice = sums(scalar);
  for (float& sum : twice) sum *= 2;
  for (const bool is_new : {false, true}) {
    auto file = SortedJson::parse(text);
    file["learner"]["learner_model_param"].update({{"num_target", "2"}, {"base_score", "[0,0]"}});
    for (auto& tree : file["learner"]["gradient_booster"]["model"]["trees"]) {
      tree["tree_param"]["size_leaf_vector"] = "2";
      std::vector<float> values;
      std::int32_t n_leaves = 0;
      for (std::size_t i = 0; i < tree["left_children"].size(); ++i) {
        const bool is_leaf = tree["left_children"][i] == -1;
        if (is_new && !is_leaf) continue;
        const float value = is_leaf ? tree["split_conditions"][i].get<float>() : 77;
        values.insert(values.end(), {value, 2 * value});
        if (is_new) tree["right_children"][i] = n_leaves++;
      }
      tree[is_new ? "leaf_weights" : "base_weights"] = values;
      if (!is_new) tree.erase("loss_changes"), tree.erase("sum_hessian");
    }
    EXPECT_EQ(sums(from_xgboost(file.dump(), 0)), sums(scalar));
    EXPECT_EQ(sums(from_xgboost(file.dump(), 1)), twice);
    EXPECT_EQ(from_xgboost(file.dump(), 1).trees[0].nodes[0].cover > 0, is_new);
    auto& first = file["learner"]["gradient_booster"]["model"]["trees"][0];
    first[is_new ? "leaf_weights" : "base_weights"].erase(0);
    EXPECT_THROW(from_xgboost(file.dump(), 1), InputError) << "a leaf without values";
  }
}

TEST(Xgboost, ReadsNamesOfFeaturesAndKeepsWhatTreesSayOfGainAndCover) {
  const tree::Model model =
      from_xgboost(with(model_text(kCases[0]), R"("feature_names":[])", R"("feature_names":["a","b","c","d"])"));
  EXPECT_EQ(model.schema.features, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_FLOAT_EQ(model.trees[0].nodes[0].gain, 53.554947F);
  EXPECT_FLOAT_EQ(model.trees[0].nodes[1].cover, 12);
  EXPECT_EQ(model.options.depth, 2);
  EXPECT_EQ(model.options.n_trees, 5);
}

TEST(Xgboost, TakesTheBaseScoreForAProbabilityInAnyNotation) {
  for (const char* text : {R"("7.5E-1")", R"("[7.5E-1]")", "0.75", "[0.75]"}) {
    const tree::Model model = from_xgboost(with(model_text(kCases[0]), R"("[5E-1]")", text));
    EXPECT_NEAR(model.base_margin[0], std::log(3), 1e-12) << text;
  }
  const tree::Model model = from_xgboost(
      with(model_text("xgboost/gbtree_multiclass"), "[3.3333334E-1,3.3333334E-1,3.3333334E-1]", "[1E0,-2E0,3E0]"));
  EXPECT_EQ(model.base_margin, (std::vector<double>{1, -2, 3}));
}

TEST(Xgboost, TakesTheRoundsUpToTheBestOfEarlyStopping) {
  const auto with_best = [](const char* best) {
    return from_xgboost(with(model_text("xgboost/gbtree_multiclass"), R"("attributes":{})",
                             std::string(R"("attributes":{"best_iteration":")") + best + "\"}"));
  };
  EXPECT_EQ(with_best("1").n_rounds(), 2U);
  EXPECT_THROW(from_xgboost(with(with(model_text("xgboost/gbtree_multiclass"), R"("num_parallel_tree":"1",)", ""),
                                 R"("attributes":{})", R"("attributes":{"best_iteration":"1"})")),
               InputError)
      << "does not say how many trees a round has";
  EXPECT_EQ(with_best("99").n_rounds(), 4U);
  EXPECT_THROW(with_best("18446744073709551615"), InputError);
}

/// A file of two features, as XGBoost 3.2 writes it.
std::string linear(const std::string& objective, const std::string& n_classes, const std::string& base_score,
                   const std::string& weights) {
  return R"({"learner":{"attributes":{},"feature_names":["a","b"],"feature_types":[],"gradient_booster":{"model":)"
         R"({"boosted_rounds":8,"weights":[)" +
         weights + R"(]},"name":"gblinear"},"learner_model_param":{"base_score":")" + base_score +
         R"(","num_class":")" + n_classes + R"(","num_feature":"2","num_target":"1"},"objective":{"name":")" +
         objective + R"("}},"version":[3,2,0]})";
}

/// Outputs of a row, one after another.
std::vector<float> linear_predictions(const std::string& text, float a, float b) {
  const ReadModel read = read_model(text, "x");
  const neural::Model& model = *neural::network_of(*read.model);
  table::Table table(model.schema, 1, {0, 1});
  table.feature(0)[0] = a;
  table.feature(1)[0] = b;
  return neural::predict_outputs(model, table, 1);
}

TEST(Xgboost, ALinearModelIsANetworkWithoutHiddenLayersWhereMissingValuesAddNothing) {
  const std::string number = linear("reg:squarederror", "0", "[1E1]", "2,-3,5");
  EXPECT_EQ(linear_predictions(number, 1, 100), std::vector<float>{10 + 5 + 2 - 300});
  EXPECT_EQ(linear_predictions(number, NAN, 1), std::vector<float>{10 + 5 - 3});
  EXPECT_EQ(linear_predictions(linear("binary:logistic", "0", "5E-1", "2,-3,5"), 1, 1), std::vector<float>{4});
  // The first score is that of all classes.
  const std::string classes = linear("multi:softprob", "3", "[1,7,9]", "2,4,8, -3,0,1, 5,6,7");
  EXPECT_EQ(linear_predictions(classes, 1, 2), (std::vector<float>{2 - 6 + 5 + 1, 4 + 6 + 1, 8 + 2 + 7 + 1}));
}

TEST(XgboostBadarg, LinearModelsThatAreNotWholeOrPredictExponentialsAreRefused) {
  const auto refusal_of = [](const std::string& text) -> std::string {
    try {
      read_model(text, "x");
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_NE(refusal_of(linear("count:poisson", "0", "5E-1", "2,-3,5")).find("exponentials"), std::string::npos);
  EXPECT_NE(refusal_of(linear("reg:squarederror", "0", "5E-1", "2,-3")).find("2 weights"), std::string::npos);
  EXPECT_NE(refusal_of(linear("reg:squarederror", "0", "5E-1", "2,-3,1e39")).find("'weights'"), std::string::npos);
  EXPECT_NE(refusal_of(linear("reg:squarederror", "0", "5E-1", "2,-3,\"x\"")).find("not a whole"), std::string::npos);
}

TEST(XgboostBadarg, WhatPodereDoesNotHaveIsRefusedByName) {
  const std::string text = model_text(kCases[0]);
  const auto expect_refused = [&](const char* old, const char* replacement, const char* name) {
    EXPECT_NE(refusal(with(text, old, replacement)).find(name), std::string::npos)
        << refusal(with(text, old, replacement));
  };
  expect_refused(R"("name":"gbtree")", R"("name":"other")", "'other'");
  expect_refused("binary:logistic", "binary:hinge", "binary:logitraw");
  expect_refused("binary:logistic", "own:objective", "'own:objective'");
  expect_refused(R"("size_leaf_vector":"1")", R"("size_leaf_vector":"3")", "leaves of 3 numbers for 1 outputs");
  expect_refused(R"("num_target":"1")", R"("num_target":"2")",
                 "predicts 2 targets, Podere one: choose it with podere convert --target K, K from 0 to 1");
  expect_refused(R"("num_target":"1")", R"("num_target":"1001")", "1001 targets");
  EXPECT_NE(refusal(with(model_text("xgboost/gbtree_multiclass"), R"("num_target":"1")", R"("num_target":"2")"))
                .find("2 targets"),
            std::string::npos);
}

TEST(XgboostBadarg, NumbersThatLeadOutOfBoundsAreRefused) {
  const std::string text = model_text(kCases[0]);
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    const std::string message = refusal(with(text, old, replacement));
    EXPECT_NE(message, "read") << old << " " << replacement;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  expect_refused(R"("left_children":[1,)", R"("left_children":[7,)");
  expect_refused(R"("left_children":[1,)", R"("left_children":[-7,)");
  expect_refused(R"("left_children":[1,)", R"("left_children":[0,)");
  expect_refused(R"("left_children":[1,)", R"("left_children":[2,)");
  expect_refused(R"("left_children":[1,)", R"("left_children":[1,2,)");
  expect_refused(R"("left_children":[1,)", R"("left_children":[1e9,)");
  expect_refused(R"("right_children":[2,)", R"("right_children":[-1,)");
  expect_refused(R"("split_indices":[0,)", R"("split_indices":[4,)");
  expect_refused(R"("split_indices":[0,)", R"("split_indices":[-1,)");
  expect_refused(R"("split_indices":[0,)", R"("split_indices":[null,)");
  expect_refused(R"("split_conditions":[)", R"("split_conditions":[1e39,)");
  expect_refused("1.4823048E-1", "1e39");
  expect_refused("1.4823048E-1", "NaN");
  expect_refused("1.4823048E-1", R"("0")");
  expect_refused(R"("tree_info":[0,)", R"("tree_info":[1,)");
  expect_refused(R"("tree_info":[0,)", R"("tree_info":[)");
  expect_refused(R"("num_feature":"4","num_target")", R"("num_feature":"99999999999","num_target")");
  expect_refused(R"("num_feature":"4","num_target")", R"("num_feature":"-4","num_target")");
  expect_refused(R"("num_class":"0")", R"("num_class":"3")");
  expect_refused(R"("[5E-1]")", R"("[0E0]")");
  expect_refused(R"("[5E-1]")", R"("[5E-1,5E-1]")");
  expect_refused(R"("[5E-1]")", R"("")");
  expect_refused(R"("feature_names":[])", R"("feature_names":["a"])");
  expect_refused(R"("learner":{)", R"("learner":7,"x":{)");
}

TEST(Xgboost, FeaturesThatTreesSplitByCategoriesAreCategoricalWithoutTypesToo) {
  const std::string text = model_text("xgboost/gbtree_categorical_binary");
  for (const auto& model : {from_xgboost(text), from_xgboost(with(text, R"(["q","q","c"])", "[]"))}) {
    ASSERT_EQ(model.schema.categories.size(), 1U);
    EXPECT_TRUE(model.schema.is_categorical(2));
    EXPECT_EQ(model.trees[0].category_sets[0], (std::vector<std::int32_t>{1, 3}));
  }
}

TEST(Xgboost, ASplitOfMissingValuesFromAllCategoriesIsWrittenAsOneByNumbers) {
  const std::string text = model_text("xgboost/gbtree_categorical_binary");
  tree::Model model = from_xgboost(text);
  model.trees[0].category_sets[0].clear();
  const auto written = SortedJson::parse(to_xgboost(model));
  const auto& first = written["learner"]["gradient_booster"]["model"]["trees"][0];
  EXPECT_EQ(first["split_type"][0], 0);
  EXPECT_EQ(first["split_conditions"][0].get<float>(), std::numeric_limits<float>::max()) << "all codes go left";
  const tree::Model again = from_xgboost(to_xgboost(model));
  ASSERT_GE(again.trees[0].nodes[0].category_set, 0);
  EXPECT_TRUE(again.trees[0].category_sets[static_cast<std::size_t>(again.trees[0].nodes[0].category_set)].empty());
  EXPECT_TRUE(again.schema.is_categorical(2));
}

TEST(XgboostBadarg, CategoriesThatLeadOutOfBoundsAreRefused) {
  const std::string text = model_text("xgboost/gbtree_categorical_binary");
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    EXPECT_NE(refusal(with(text, old, replacement)), "read") << old << " " << replacement;
  };
  expect_refused(R"("categories":[1,3])", R"("categories":[1])");
  expect_refused(R"("categories":[1,3])", R"("categories":[1,-3])");
  expect_refused(R"("categories":[1,3])", R"("categories":[1,16777216])");
  expect_refused(R"("categories_nodes":[0])", R"("categories_nodes":[11])");
  expect_refused(R"("categories_nodes":[0])", R"("categories_nodes":[0,0])");
  expect_refused(R"("categories_segments":[0])", R"("categories_segments":[1])");
  expect_refused(R"("categories_sizes":[2])", R"("categories_sizes":[3])");
  expect_refused(R"("categories_sizes":[2])", R"("categories_sizes":[-2])");
  expect_refused(R"("categories_nodes":[0])", R"("categories_nodes":[1])");
}

TEST(XgboostBadarg, WhatPodereCouldNotReadBackIsRefused) {
  const std::string text = model_text(kCases[0]);
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    EXPECT_THROW(read_model(with(text, old, replacement), "x.json"), InputError) << replacement;
  };
  EXPECT_STREQ(read_model(text, "x.json").format.id, "xgboost");
  expect_refused(R"("feature_names":[])", R"("feature_names":["a","b","c",""])");
  expect_refused(R"("feature_names":[])", R"("feature_names":["a","b","c","a"])");
  expect_refused(R"("feature_types":[])", R"("feature_types":["c","c","c","c"])");
  tree::Model model = from_xgboost(text);
  model.base_margin = {3e38};
  model.trees[0].nodes.back().value = 3e38F;
  EXPECT_THROW(to_xgboost(model), InputError);
}

TEST(XgboostBadarg, EveryShortenedTextIsRefused) {
  const std::string text = model_text(kCases[0]);
  for (std::size_t n = 0; n + 1 < text.size(); n += 7) EXPECT_NE(refusal(text.substr(0, n)), "read") << n;
}

}  // namespace
}  // namespace podere::exchange
