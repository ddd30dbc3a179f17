#include "podere/exchange/lightgbm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/exchange/cases.h"
#include "podere/exchange/format.h"
#include "podere/exchange/loose_tree.h"
#include "podere/exchange/onnx.h"
#include "podere/exchange/xgboost.h"
#include "podere/tree/algorithm.h"

namespace podere::exchange {
namespace {

std::string lightgbm_text(const std::string& name) { return case_text("lightgbm/" + name + ".model.txt"); }

std::string lightgbm_refusal(const std::string& text) {
  try {
    from_lightgbm(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

TEST(Lightgbm, PredictsAsLightgbmDoes) {
  for (const char* name : {"binary", "never_missing", "multiclass", "regression", "decisions", "categorical",
                           "categorical_never_missing", "linear", "linear_classes"}) {
    expect_case(std::string("lightgbm/") + name, from_lightgbm(lightgbm_text(name)));
  }
}

TEST(Lightgbm, StrictThresholdsPartFloatsAsTheDoubleDid) {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const double threshold : {0.1, 0.5, -0.1, 1.0000000180025095e-35, 0.0, -0.0, 1e-46, -1e-46, 3.4e38, -3.4e38,
                                 -1e300, 16777217.0, 0x1.000001p0, 0x1.0000010001p0, -0x1.000001p0}) {
    const float nearest = std::max(static_cast<float>(std::clamp(threshold, -1e38, 3e38)), -kMost);
    for (const float x : {nearest, std::nextafter(nearest, -kInfinity), std::nextafter(nearest, kInfinity), 0.0F, -0.0F,
                          kMost, -kMost, kInfinity, -kInfinity}) {
      EXPECT_EQ(x < strict_threshold(threshold), x <= threshold) << x << " at " << threshold;
    }
  }
}

TEST(Lightgbm, ReadsNamesGainAndCover) {
  const tree::Model model = from_lightgbm(lightgbm_text("binary"));
  EXPECT_EQ(model.schema.features, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(model.n_rounds(), 6U);
  EXPECT_GT(model.trees[0].nodes[0].gain, 0);
  for (const tree::Node& node : model.trees[0].nodes) {
    if (node.is_leaf()) continue;
    const auto left = static_cast<std::size_t>(node.left);
    EXPECT_NEAR(node.cover, model.trees[0].nodes[left].cover + model.trees[0].nodes[left + 1].cover, 1e-3);
  }
}

TEST(Lightgbm, FeaturesWithoutNamesAreMatchedByOrder) {
  const std::string text = lightgbm_text("binary");
  const auto names_of = [&](const char* line) {
    return from_lightgbm(with(text, "feature_names=a b c d", line)).schema.features;
  };
  EXPECT_EQ(names_of("feature_names=Column_0 Column_1 Column_2 Column_3"),
            (std::vector<std::string>{"f0", "f1", "f2", "f3"}));
  EXPECT_EQ(names_of("feature_names=Column_0 Column_1 x Column_3"),
            (std::vector<std::string>{"Column_0", "Column_1", "x", "Column_3"}));
}

TEST(Lightgbm, WhatIsWrittenIsReadBackWithTheSameMargins) {
  for (const char* name :
       {"binary", "multiclass", "regression", "decisions", "categorical", "linear", "linear_classes"}) {
    const tree::Model model = from_lightgbm(lightgbm_text(name));
    const table::Table table = case_table(std::string("lightgbm/") + name, model);
    const tree::Model again = from_lightgbm(to_lightgbm(model));
    EXPECT_EQ(tree::predict_margins(again, table, 1), tree::predict_margins(model, table, 1)) << name;
    EXPECT_EQ(again.schema, model.schema) << name;
  }
}

TEST(Lightgbm, AForestIsAnAverageAndASigmoidAFactor) {
  const std::string text = lightgbm_text("binary");
  const tree::Model model = from_lightgbm(text);
  const float value = model.trees[0].nodes.back().value;
  EXPECT_FLOAT_EQ(from_lightgbm(with(text, "version=v4", "version=v4\naverage_output")).trees[0].nodes.back().value,
                  value / 6);
  EXPECT_FLOAT_EQ(from_lightgbm(with(text, "sigmoid:1", "sigmoid:2")).trees[0].nodes.back().value, value * 2);
}

TEST(Lightgbm, OneVersusAllHasALogisticFunctionForEachClass) {
  const std::string text = lightgbm_text("multiclass");
  const std::string each =
      with(text, "objective=multiclass num_class:3", "objective=multiclassova num_class:3 sigmoid:2");
  const tree::Model model = from_lightgbm(each), classes = from_lightgbm(text);
  const table::Table table = case_table("lightgbm/multiclass", model);
  const std::vector<float> predicted = tree::predict(model, table, 1);
  const std::vector<float> margins = tree::predict_margins(classes, table, 1);
  for (std::size_t i = 0; i < margins.size(); ++i)
    EXPECT_NEAR(predicted[i], 1 / (1 + std::exp(-2 * static_cast<double>(margins[i]))), 1e-6);
  EXPECT_EQ(tree::predict(from_lightgbm(to_lightgbm(model)), table, 1), predicted);
  EXPECT_THROW(to_xgboost(model), InputError);
}

/// As scikit-learn's forests are: sums of the leaves are probabilities.
TEST(Lightgbm, ProbabilitiesOfTwoClassesAreWrittenAsANumber) {
  tree::Model model = from_lightgbm(lightgbm_text("binary"));
  ASSERT_EQ(model.trees.size() % 2, 0U);
  model.options.objective = tree::Objective::kProbabilities;
  model.options.n_classes = 2;
  model.base_margin = {0, 0.125};
  const table::Table table = case_table("lightgbm/binary", model);
  const std::vector<float> margins = tree::predict_margins(model, table, 1);
  const std::vector<float> of_second(margins.begin() + static_cast<long>(table.n_rows()), margins.end());
  for (const tree::Model& again : {from_lightgbm(to_lightgbm(model)), from_xgboost(to_xgboost(model))}) {
    EXPECT_EQ(again.options.objective, tree::Objective::kSquaredError);
    EXPECT_EQ(tree::predict_margins(again, table, 1), of_second);
  }
  for (const char* id : {"lightgbm", "xgboost", "xgboost-ubjson"}) {
    EXPECT_NE(what_is_lost(format_called(id), *tree::as_model(model)).find("second class alone"), std::string::npos);
  }
  for (const char* id : {"podere", "onnx"}) EXPECT_EQ(what_is_lost(format_called(id), *tree::as_model(model)), "");
  model.options.n_classes = 3;
  model.base_margin.push_back(0);
  for (const auto write : {to_lightgbm, to_xgboost}) {
    try {
      write(model);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("averages probabilities of 3 classes"), std::string::npos);
    }
  }
}

TEST(Lightgbm, OfACustomObjectiveWithSeveralOutputsTheChosenOneIsRead) {
  const tree::Model classes = from_lightgbm(lightgbm_text("multiclass"));
  const std::string text = with(lightgbm_text("multiclass"), "objective=multiclass num_class:3\n", "");
  EXPECT_NE(lightgbm_refusal(text).find("3 outputs of a custom objective, Podere one: choose it with"),
            std::string::npos);
  const tree::Model model = from_lightgbm(text, 1);
  const table::Table table = case_table("lightgbm/multiclass", classes);
  const std::vector<float> margins = tree::predict_margins(classes, table, 1);
  const auto of_one = std::span(margins).subspan(table.n_rows(), table.n_rows());
  EXPECT_TRUE(std::ranges::equal(tree::predict(model, table, 1), of_one));
  EXPECT_THROW(from_lightgbm(lightgbm_text("multiclass"), 1), InputError) << "has one target";
}

TEST(Lightgbm, AQuantileIsAmongTheParameters) {
  const std::string text = with(lightgbm_text("regression"), "objective=regression", "objective=quantile");
  EXPECT_EQ(from_lightgbm(text).options.objective, tree::Objective::kSquaredError);
  tree::Model model = from_lightgbm(text + "[alpha: 0.25]\n");
  EXPECT_EQ(model.options.objective, tree::Objective::kQuantile);
  EXPECT_EQ(from_lightgbm(to_lightgbm(model)).options.quantile, 0.25);
}

TEST(Lightgbm, ATreeWithoutSplitsIsALeaf) {
  const std::string text =
      with(lightgbm_text("decisions"), "Tree=0\n", "Tree=0\nnum_leaves=1\nleaf_value=0.25\n\nTree=1\n");
  const tree::Model model = from_lightgbm(text);
  ASSERT_EQ(model.trees[0].nodes.size(), 1U);
  EXPECT_EQ(model.trees[0].nodes[0].value, 0.25F);
}

TEST(LightgbmBadarg, WhatPodereDoesNotHaveIsRefusedByName) {
  const std::string text = lightgbm_text("binary");
  const auto expect_refused = [&](const char* old, const char* replacement, const char* name) {
    EXPECT_NE(lightgbm_refusal(with(text, old, replacement)).find(name), std::string::npos)
        << lightgbm_refusal(with(text, old, replacement));
  };
  expect_refused("objective=binary sigmoid:1", "objective=own", "'own'");
  expect_refused("objective=binary sigmoid:1", "objective=binary sigmoid:0", "sigmoid:0");
  expect_refused("objective=binary sigmoid:1", "objective=binary", "sigmoid");
  expect_refused("objective=binary sigmoid:1", "objective=regression sqrt", "sqrt");
  expect_refused("version=v4", "version=v2\naverage_output", "random forest");
  expect_refused("version=v4", "version=v1", "v1");
  // Zeros are missing and go left, numbers up to 0.1 below zero and all above go right, or the other way round.
  expect_refused("decision_type=10", "decision_type=6", "zero_as_missing");
}

TEST(LightgbmBadarg, NumbersThatLeadOutOfBoundsAreRefused) {
  const std::string text = lightgbm_text("decisions");
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    const std::string message = lightgbm_refusal(with(text, old, replacement));
    EXPECT_NE(message, "read") << old << " " << replacement;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  expect_refused("left_child=-1", "left_child=0");
  expect_refused("left_child=-1", "left_child=-2");
  expect_refused("left_child=-1", "left_child=-3");
  expect_refused("left_child=-1", "left_child=1");
  expect_refused("left_child=-1", "left_child=-2147483648");
  expect_refused("left_child=-1", "left_child=");
  expect_refused("left_child=-1", "left_child=-1 -1");
  expect_refused("split_feature=0", "split_feature=1");
  expect_refused("split_feature=0", "split_feature=-1");
  expect_refused("threshold=", "threshold=nan ");
  expect_refused("decision_type=0", "decision_type=12");
  expect_refused("leaf_value=1.0 ", "leaf_value=1e39 ");
  expect_refused("leaf_value=1.0 ", "leaf_value=");
  expect_refused("num_class=1", "num_class=3");
  expect_refused("num_class=1", "num_class=x");
  expect_refused("max_feature_idx=0", "max_feature_idx=7");
  expect_refused("end of trees", "end of tree");
}

/// A leaf is linear if all features of its part have values; else it is the number that it would be without.
TEST(Lightgbm, ARowThatLacksAFeatureOfALinearLeafGetsItsValue) {
  std::string text = with(lightgbm_text("decisions"), "Tree=0\n",
                          "Tree=0\nnum_leaves=1\nleaf_value=0.25\nis_linear=1\nleaf_const=10\nnum_features=1\n"
                          "leaf_features=0\nleaf_coeff=-3\n\nTree=1\n");
  tree::Model model = from_lightgbm(text);
  model.trees.resize(1);
  table::Schema schema;
  schema.features = model.schema.features;
  table::Table table(schema, 3, {0, 3});
  table.feature(0)[0] = 2;
  table.feature(0)[1] = std::numeric_limits<float>::quiet_NaN();
  table.feature(0)[2] = -0.5F;
  const std::vector<float> expected{4, 0.25F, 11.5F};
  EXPECT_EQ(tree::predict(model, table, 1), expected);
  EXPECT_EQ(tree::predict(from_lightgbm(to_lightgbm(model)), table, 1), expected);
  for (const auto write : {&to_xgboost, &to_xgboost_ubjson}) EXPECT_THROW(write(model), InputError);
  EXPECT_THROW(to_onnx(model), InputError);
}

/// Where no leaf has a part, which then is as quick as any other.
TEST(Lightgbm, ALinearTreeWithoutFeaturesIsAnOrdinaryOne) {
  const tree::Model model = from_lightgbm(lightgbm_text("linear"));
  EXPECT_TRUE(model.trees[0].linear_parts.empty());
  EXPECT_TRUE(has_linear_parts(model));
  EXPECT_FALSE(has_linear_parts(from_lightgbm(lightgbm_text("regression"))));
}

TEST(LightgbmBadarg, LinearPartsThatDoNotFitAreRefused) {
  const std::string text = lightgbm_text("linear");
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    const std::string altered = with(text, old, replacement);
    EXPECT_THROW(read_model(altered, "x.txt"), InputError) << old << " " << replacement;
  };
  expect_refused("leaf_const=", "leaf_constant=");
  expect_refused("leaf_const=", "leaf_const=1 ");
  expect_refused("num_features=2", "num_features=3");
  expect_refused("num_features=2", "num_features=-2");
  expect_refused("num_features=2", "num_features=4294967295");
  expect_refused("leaf_features=0 1", "leaf_features=0 4");
  expect_refused("leaf_features=0 1", "leaf_features=0 -1");
  expect_refused("leaf_features=0 1", "leaf_features=0 3");  // of categories
  expect_refused("leaf_coeff=0", "leaf_coeff=inf");
  expect_refused("leaf_coeff=0", "leaf_coeff=nan");
}

TEST(LightgbmBadarg, CategoriesThatLeadOutOfBoundsAreRefused) {
  const std::string text = lightgbm_text("categorical");
  const auto expect_refused = [&](const std::string& old, const std::string& replacement) {
    EXPECT_NE(lightgbm_refusal(with(text, old, replacement)), "read") << old << " " << replacement;
  };
  expect_refused("cat_boundaries=0 1", "cat_boundaries=0 9");
  expect_refused("cat_boundaries=0 1", "cat_boundaries=1 0");
  expect_refused("cat_boundaries=0 1", "cat_boundaries=-1 1");
  expect_refused("cat_boundaries=", "cat_bounds=");
  expect_refused("cat_threshold=", "cat_threshold=-");
}

TEST(LightgbmBadarg, ANameThatIsNotUtf8IsRefused) {
  const std::string text = lightgbm_text("binary");
  EXPECT_STREQ(read_model(text, "x.txt").format.id, "lightgbm");
  EXPECT_THROW(read_model(with(text, "feature_names=",
                               "feature_names=gr\xf6\xdf"
                               "e_"),
                          "x.txt"),
               InputError);
}

TEST(LightgbmBadarg, EveryShortenedTextIsRefused) {
  const std::string text = lightgbm_text("binary");
  for (std::size_t n = 0; n + 1 < text.find("end of trees"); n += 7)
    EXPECT_NE(lightgbm_refusal(text.substr(0, n)), "read") << n;
}

}  // namespace
}  // namespace podere::exchange
