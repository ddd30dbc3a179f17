#include "podere/exchange/catboost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/exchange/cases.h"
#include "podere/exchange/format.h"
#include "podere/tree/algorithm.h"

namespace podere::exchange {
namespace {

/// Two levels of one tree: a split of x at 1, and one that parts missing values of y from all numbers.
constexpr const char* kCatboost = R"({"features_info":{"float_features":[
  {"feature_id":"x","feature_index":0,"flat_feature_index":0,"nan_value_treatment":"AsFalse"},
  {"feature_id":"y","feature_index":1,"flat_feature_index":1,"nan_value_treatment":"AsTrue"}]},
  "model_info":{"params":{"loss_function":{"type":"RMSE"}}},"scale_and_bias":[2,[10]],
  "oblivious_trees":[{"leaf_values":[1,2,3,4],"leaf_weights":[1,1,2,2],"splits":[
    {"border":1,"float_feature_index":0,"split_type":"FloatFeature"},
    {"border":3.4028234663852886e+38,"float_feature_index":1,"split_type":"FloatFeature"}]}]})";

std::string catboost_refusal(const std::string& text) {
  try {
    read_model(text, "c");
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

float catboost_margin(const std::string& text, float x, float y) {
  const auto read = read_model(text, "c");
  const tree::Model& model = *tree::trees_of(*read.model);
  table::Table table(model.schema, 1, {0, 1});
  table.feature(0)[0] = x;
  table.feature(1)[0] = y;
  return tree::predict_margins(model, table, 1)[0];
}

TEST(Catboost, ValuesAboveABorderTakeTheBitOfTheirLevel) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(catboost_margin(kCatboost, 1, 0), 12);
  EXPECT_EQ(catboost_margin(kCatboost, std::nextafter(1.0F, 2.0F), 0), 14);
  EXPECT_EQ(catboost_margin(kCatboost, kNan, std::numeric_limits<float>::lowest()), 12);
  EXPECT_EQ(catboost_margin(kCatboost, 1, kNan), 16);
  EXPECT_EQ(catboost_margin(kCatboost, 2, kNan), 18);
  EXPECT_EQ(catboost_margin(with(kCatboost, "AsFalse", "AsTrue"), kNan, 0), 14);
}

TEST(Catboost, TreesThatAreNotSymmetricAreRead) {
  std::string text = kCatboost;
  text = text.substr(0, text.find("\"oblivious_trees\"")) + R"("trees":[{"split":
    {"border":1,"float_feature_index":0,"split_type":"FloatFeature"},"left":{"value":5,"weight":1},
    "right":{"value":7,"weight":1}}]})";
  EXPECT_EQ(catboost_margin(text, 1, 0), 20);
  EXPECT_EQ(catboost_margin(text, 2, 0), 24);
  EXPECT_NE(catboost_refusal(with(text, "\"value\":5", "\"value\":[5,6]")), "read");
}

TEST(Catboost, OldVersionsHaveOneBiasForAllClassesAndNamesOfClassesElsewhere) {
  std::string text = with(with(kCatboost, "[2,[10]]", "[2,1]"), "\"RMSE\"}", R"("MultiClass"})");
  text = with(text, "\"model_info\":{", R"("model_info":{"multiclass_params":{"class_names":["ash","elm","fir"]},)");
  text = with(text, "[1,2,3,4]", "[1,0,5, 2,0,6, 3,0,7, 4,0,8]");
  const auto read = read_model(text, "c");
  const tree::Model& model = *tree::trees_of(*read.model);
  EXPECT_EQ(model.schema.classes, (std::vector<std::string>{"ash", "elm", "fir"}));
  table::Table table(model.schema, 1, {0, 1});
  table.feature(0)[0] = 2;
  table.feature(1)[0] = 0;
  EXPECT_EQ(tree::predict_margins(model, table, 1), (std::vector<float>{5, 1, 13}));

  text = with(kCatboost, "\"params\":{", R"("params":{"data_processing_options":{"class_names":["no","yes"]},)");
  const auto two = read_model(with(text, "RMSE", "Logloss"), "c");
  EXPECT_EQ(tree::trees_of(*two.model)->schema.classes, (std::vector<std::string>{"no", "yes"}));
  const auto places = read_model(with(with(text, "RMSE", "Logloss"), R"(["no","yes"])", R"(["0","1"])"), "c");
  EXPECT_TRUE(tree::trees_of(*places.model)->schema.classes.empty());
}

TEST(Catboost, OneVersusAllHasALogisticFunctionForEachClass) {
  std::string text = with(with(kCatboost, "[2,[10]]", "[1,[0,1]]"), "\"RMSE\"}", R"("MultiClassOneVsAll"})");
  const auto read = read_model(with(text, "[1,2,3,4]", "[1,0, 2,0, 3,0, 4,0]"), "c");
  const tree::Model& model = *tree::trees_of(*read.model);
  table::Table table(model.schema, 1, {0, 1});
  table.feature(0)[0] = 1;
  table.feature(1)[0] = 0;
  const std::vector<float> p = tree::predict(model, table, 1);
  ASSERT_EQ(p.size(), 2U);
  for (const float probability : p) EXPECT_NEAR(probability, 1 / (1 + std::exp(-1.0)), 1e-6);
}

TEST(Catboost, OfSeveralQuantilesTheChosenOneIsRead) {
  const std::string text = with(with(with(kCatboost, "[1,2,3,4]", "[1,5, 2,6, 3,7, 4,8]"), "[2,[10]]", "[2,[10,20]]"),
                                "\"RMSE\"", R"("MultiQuantile","params":{"alpha":"0.2,0.8"})");
  for (const std::size_t k : {0, 1}) {
    const auto read = read_model(text, "c", k);
    const tree::Model& model = *tree::trees_of(*read.model);
    EXPECT_EQ(model.options.quantile, k == 0 ? 0.2 : 0.8);
    table::Table table(model.schema, 1, {0, 1});
    table.feature(0)[0] = 2;
    table.feature(1)[0] = 0;
    EXPECT_EQ(tree::predict(model, table, 1)[0], k == 0 ? 10 + 2 * 2 : 20 + 2 * 6);
  }
  // Old versions have one bias for all.
  const std::string old = with(with(text, "[2,[10,20]]", "[2,10]"), "MultiQuantile", "MultiRMSE");
  EXPECT_EQ(tree::trees_of(*read_model(old, "c", 1).model)->base_margin, std::vector<double>{10});
  EXPECT_THROW(read_model(text, "c", 2), InputError);
  EXPECT_THROW(read_model(kCatboost, "c", 0), InputError) << "has one target";
}

TEST(CatboostBadarg, WhatIsNotWholeOrNotInPodereIsRefused) {
  const std::string text = kCatboost;
  const auto expect_refused = [&](const char* old, const char* replacement, const char* reason) {
    const std::string message = catboost_refusal(with(text, old, replacement));
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  expect_refused("RMSE", "LogLinQuantile", "'LogLinQuantile'");
  expect_refused("[10]", "[10,11]", "2 targets, Podere one: choose it with podere convert --target K, K from 0 to 1");
  expect_refused("\"RMSE\"", R"("MultiQuantile","params":{"alpha":"0.2,0.8"})", "2 quantiles and 1 outputs");
  expect_refused("\"RMSE\"", R"("MultiQuantile","params":{"alpha":"0.2,8"})", "quantile 8");
  expect_refused("[1,2,3,4]", "[1,2,3]", "leaf_values");
  expect_refused("[1,1,2,2]", "[1]", "leaf_weights");
  expect_refused("\"border\":1,", "\"border\":1e39,", "border");
  expect_refused("\"border\":1,", "\"border\":null,", "not a whole CatBoost model");
  expect_refused("\"float_feature_index\":0", "\"float_feature_index\":7", "feature 7");
  expect_refused("\"float_feature_index\":0", "\"float_feature_index\":-1", "-1");
  expect_refused("\"flat_feature_index\":0", "\"flat_feature_index\":9", "feature 9");
  expect_refused("AsFalse", "Other", "nan_value_treatment");
  expect_refused("\"border\":1,\"float_feature_index\":0,\"split_type\":\"FloatFeature\"",
                 "\"split_type\":\"OnlineCtr\"", "OnlineCtr");
  expect_refused("{\"float_features\"", "{\"categorical_features\":[{\"feature_id\":\"town\"}],\"float_features\"",
                 "categorical_features such as town");
  for (std::size_t n = 0; n < text.size(); n += 5) EXPECT_NE(catboost_refusal(text.substr(0, n)), "read") << n;
  EXPECT_NE(catboost_refusal("CBM1").find("format='json'"), std::string::npos);
}

}  // namespace
}  // namespace podere::exchange
