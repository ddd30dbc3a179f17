#include "podere/controller/labels.h"

#include <gtest/gtest.h>

namespace podere::controller {
namespace {

TEST(Labels, AreFoundByName) {
  const Labels labels(Json{{"b", "2"}, {"a", "1"}, {"not-a-text", 3}});
  ASSERT_NE(labels.find("a"), nullptr);
  EXPECT_EQ(*labels.find("a"), "1");
  EXPECT_TRUE(labels.has("b", "2"));
  EXPECT_FALSE(labels.has("b", "3"));
  EXPECT_EQ(labels.find("not-a-text"), nullptr);
  EXPECT_EQ(Labels(Json()).find("a"), nullptr);
}

TEST(LabelSelector, SelectsByAllItsRequirementsAndPrintsAsKubectlReadsIt) {
  const LabelSelector selector = label_selector_of({{"matchLabels", {{"app", "spark"}}},
                                                    {"matchExpressions",
                                                     {{{"key", "tier"}, {"operator", "In"}, {"values", {"x", "y"}}},
                                                      {{"key", "old"}, {"operator", "DoesNotExist"}}}}});
  EXPECT_TRUE(selector.matches(Labels(Json{{"app", "spark"}, {"tier", "y"}})));
  EXPECT_FALSE(selector.matches(Labels(Json{{"app", "spark"}, {"tier", "z"}})));
  EXPECT_FALSE(selector.matches(Labels(Json{{"app", "spark"}, {"tier", "x"}, {"old", ""}})));
  EXPECT_FALSE(selector.matches(Labels()));
  EXPECT_EQ(selector.text(), "app=spark,tier in (x,y),!old");
}

TEST(LabelSelector, WithoutRequirementsSelectsEverything) {
  EXPECT_TRUE(label_selector_of(Json::object()).matches(Labels()));
  EXPECT_TRUE(label_selector_of(nullptr).matches(Labels(Json{{"a", "b"}})));
}

}  // namespace
}  // namespace podere::controller
