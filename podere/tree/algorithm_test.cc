#include "podere/tree/algorithm.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"

namespace podere::tree {
namespace {

std::string refusal_of_options(const char* options) {
  try {
    boosted_trees().trainer(Json::parse(options));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BoostedTrees, TakesAllOptions) {
  const Options all = {.objective = Objective::kSoftmax,
                       .n_classes = 3,
                       .quantile = 0.9,
                       .max_delta_step = 0.5,
                       .class_weight = {1, 2.5},
                       .balance_classes = true,
                       .scale_pos_weight = 3,
                       .base_score = 0.25,
                       .n_trees = 7,
                       .depth = 4,
                       .max_leaves = 9,
                       .best_first = true,
                       .bins = 16,
                       .learning_rate = 0.3,
                       .lambda = 2.5,
                       .min_child_weight = 0.5,
                       .min_gain = 0.25,
                       .subsample = 0.5,
                       .column_subsample = 0.75,
                       .validation_fraction = 0.125,
                       .early_stopping_rounds = 3,
                       .seed = 18446744073709551615u,
                       .monotone = "a:+1",
                       .interactions = "a,b;c"};
  const Json json = json_of_fields(all);
  EXPECT_EQ(json.size(), 24u) << "an option that does not travel";
  EXPECT_EQ(json["n_trees"], 7) << "another name than in the model file";
  Options read;
  read_json(Json::parse(json.dump()), "options", read);
  EXPECT_EQ(read, all);
}

TEST(BoostedTrees, RefusesOptionsByTheirNames) {
  EXPECT_EQ(refusal_of_options(R"({"depth": 3})"), "accepted");
  EXPECT_TRUE(refusal_of_options(R"({"dept": 3})").starts_with("options: 'dept' is not known, there are objective, "));
  EXPECT_EQ(refusal_of_options(R"({"depth": "deep"})"), "options.depth must be a whole number, it is \"deep\"");
  EXPECT_EQ(refusal_of_options(R"({"depth": 1e99})"), "options.depth must be a whole number, it is 1e+99");
  EXPECT_EQ(refusal_of_options(R"({"depth": 4294967297})"),
            "options.depth must be from -2147483648 to 2147483647, it is 4294967297");
  EXPECT_EQ(refusal_of_options(R"({"depth": 31})"), "depth is 31, allowed is 1 to 30");
  EXPECT_EQ(refusal_of_options(R"({"objective": "hinge"})"),
            "objective is 'hinge', allowed are logistic, squared-error, softmax, poisson, quantile");
  EXPECT_EQ(refusal_of_options("[]"), "options must be an object, it is []");
}

}  // namespace
}  // namespace podere::tree
