#include "podere/table/features.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::table {
namespace {

using Places = std::vector<std::size_t>;

Schema labelled(std::vector<std::string> features) { return {.features = std::move(features), .label = "y"}; }

std::string refusal(const Schema& wanted, const Schema& schema) {
  try {
    match_features(wanted, schema);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(MatchFeaturesTest, FindsThemByName) {
  const Schema schema{.features = {"b", "x", "a"}};
  EXPECT_EQ(match_features(labelled({"a", "b"}), schema), (Places{2, 0}));
  EXPECT_EQ(match_features(labelled({"f3", "f1"}), {.features = {"f0", "f1", "f2", "f3"}}), (Places{3, 1}));
  EXPECT_EQ(refusal(labelled({"a", "c", "d"}), schema), "the data lacks columns that the model needs: c, d");
}

TEST(MatchFeaturesTest, TakesThemInOrderWhereOneSideHasNoNames) {
  EXPECT_EQ(match_features(labelled({"f0", "f1", "f2"}), {.features = {"b", "x", "a"}}), (Places{0, 1, 2}));
  EXPECT_EQ(match_features(labelled({"a", "b"}), {.features = {"f1", "f2"}}), (Places{0, 1}));
  EXPECT_EQ(refusal(labelled({"f0", "f1"}), {.features = {"b", "x", "a"}}),
            "the model has 2 features, the data 3 (without names on both sides they are taken in order: choose columns "
            "with --label or --columns)");
}

TEST(MatchFeaturesTest, TakesThoseOfAModelThatCountedFeaturesAloneInOrder) {
  // Not by name: the first column of such data may be the label, f0, and the model's f0 is f1.
  const Schema model{.features = {"f0", "f1"}};
  EXPECT_EQ(match_features(model, {.features = {"f1", "f2"}, .label = "f0"}), (Places{0, 1}));
  EXPECT_NE(refusal(model, {.features = {"f0", "f1", "f2"}}), "nothing was refused");
}

}  // namespace
}  // namespace podere::table
