#include "podere/neural/inputs.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "podere/base/error.h"

namespace podere::neural {
namespace {

table::Schema schema_with(const std::vector<std::string>& texts) {
  return {.features = {"x", "kind", "z"}, .categories = {{1, table::CategoryTexts(texts)}}};
}

std::vector<std::string> numbered(std::size_t n) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) texts.push_back("t" + std::to_string(i));
  return texts;
}

std::vector<float> expanded(const Inputs& inputs, const std::vector<float>& features) {
  std::vector<float> values(inputs.n_inputs(), -1);
  inputs.expand(features.data(), values.data());
  return values;
}

TEST(NetworkInputs, OfFewCategoriesEachHasOne) {
  const Inputs inputs(schema_with({"a", "b", "c"}), 3);
  EXPECT_EQ(inputs.n_inputs(), 5);
  EXPECT_TRUE(inputs.has_categories() && inputs.is_category(1) && !inputs.is_category(2));
  EXPECT_EQ(expanded(inputs, {0.5F, 2, -1}), (std::vector<float>{0.5F, 0, 0, 1, -1}));
  EXPECT_EQ(expanded(inputs, {0.5F, 0, -1}), (std::vector<float>{0.5F, 1, 0, 0, -1}));
}

TEST(NetworkInputs, OfWhatIsNoCodeNoneIsSet) {
  const Inputs inputs(schema_with({"a", "b"}), 64);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float code : {std::numeric_limits<float>::quiet_NaN(), -1.0F, 2.0F, 1e30F, kInf, -kInf}) {
    EXPECT_EQ(expanded(inputs, {7, code, 8}), (std::vector<float>{7, 0, 0, 8})) << code;
  }
}

TEST(NetworkInputs, OfManyCategoriesTwoAreSetAndFewHaveTheSame) {
  const Inputs inputs(schema_with(numbered(1000)), 64);
  EXPECT_EQ(inputs.n_inputs(), 66);
  std::set<std::vector<float>> different;
  for (int code = 0; code < 1000; ++code) {
    const auto values = expanded(inputs, {0, static_cast<float>(code), 0});
    EXPECT_EQ(std::count(values.begin(), values.end(), 1.0F), 2);
    different.insert(values);
  }
  EXPECT_GT(different.size(), 750) << "of 2016 pairs, 1000 draws hit about 790";
}

TEST(NetworkInputs, FollowTheTextAndNotItsPlace) {
  const Inputs some(schema_with(numbered(100)), 16);
  std::vector<std::string> later = numbered(100);
  later.insert(later.begin(), "another");
  const Inputs more(schema_with(later), 16);
  for (int code = 0; code < 100; ++code) {
    EXPECT_EQ(expanded(some, {0, static_cast<float>(code), 0}), expanded(more, {0, static_cast<float>(code + 1), 0}));
  }
}

TEST(NetworkInputs, OfNumbersAloneAreTheFeatures) {
  const Inputs inputs({.features = {"a", "b"}}, 64);
  EXPECT_FALSE(inputs.has_categories());
  EXPECT_EQ(expanded(inputs, {3, 4}), (std::vector<float>{3, 4}));
}

}  // namespace
}  // namespace podere::neural
