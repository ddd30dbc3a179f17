#include "podere/table/features.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::table {
namespace {

using Places = std::vector<std::size_t>;

Schema labeled(std::vector<std::string> features) { return {.features = std::move(features), .label = "y"}; }

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
  EXPECT_EQ(match_features(labeled({"a", "b"}), schema), (Places{2, 0}));
  EXPECT_EQ(match_features(labeled({"f3", "f1"}), {.features = {"f0", "f1", "f2", "f3"}}), (Places{3, 1}));
  EXPECT_EQ(refusal(labeled({"a", "c", "d"}), schema), "the data lacks columns that the model needs: c, d");
}

TEST(MatchFeaturesTest, NamesTheFirstOfManyThatAreAbsent) {
  Schema model = labeled({"x"});
  for (int j = 0; j < 45; ++j) model.features.push_back("a" + std::to_string(j));
  const std::string message = refusal(model, {.features = {"x"}});
  EXPECT_TRUE(message.starts_with("the data lacks columns that the model needs: a0, a1, ")) << message;
  EXPECT_TRUE(message.ends_with(", a38, a39, ... (45 in all)")) << message;
}

TEST(MatchFeaturesTest, PicturesAreAsLargeAsThoseOfTheModel) {
  const auto pictures = [](std::size_t n_pixels) {
    Schema schema{.features = {}, .label = "label"};
    for (std::size_t j = 0; j < n_pixels; ++j) schema.features.push_back(pixel_name(j));
    return schema;
  };
  EXPECT_EQ(match_features(pictures(4), pictures(4)), (Places{0, 1, 2, 3}));
  for (const std::size_t n_pixels : {1, 3, 5, 9}) {
    EXPECT_EQ(refusal(pictures(4), pictures(n_pixels)),
              "the model takes pictures of 4 pixels, those of the data have " + std::to_string(n_pixels));
  }
  EXPECT_EQ(match_features(labeled({"pixel3", "pixel1"}), pictures(4)), (Places{2, 0})) << "some of them";
}

TEST(MatchFeaturesTest, PicturesCameToTheirSizeAsThoseOfTheModel) {
  const auto pictures = [](const std::string& form) {
    return Schema{.features = {pixel_name(0), pixel_name(1)}, .label = "label", .pictures = form};
  };
  EXPECT_EQ(refusal(pictures("size=2x1"), pictures("size=1x2")),
            "the model learned pictures as size=2x1, and those of the data are size=1x2: read them as the model "
            "learned them");
  EXPECT_EQ(match_features(pictures("size=2x1"), pictures("size=2x1")), (Places{0, 1}));
  EXPECT_EQ(match_features(pictures("size=2x1"), pictures("")), (Places{0, 1})) << "arrays do not say it";
  EXPECT_EQ(match_features(pictures(""), pictures("size=2x1")), (Places{0, 1})) << "a model of an earlier version";
}

TEST(MatchFeaturesTest, TakesThemInOrderWhereOneSideHasNoNames) {
  EXPECT_EQ(match_features(labeled({"f0", "f1", "f2"}), {.features = {"b", "x", "a"}}), (Places{0, 1, 2}));
  EXPECT_EQ(match_features(labeled({"a", "b"}), {.features = {"f1", "f2"}}), (Places{0, 1}));
  EXPECT_EQ(
      refusal(labeled({"f0", "f1"}), {.features = {"b", "x", "a"}}),
      "the model has 2 features, the data 3 (without names on both sides they are matched by order: choose columns "
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
