#include "podere/table/select_columns.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

std::string refusal_of_features(const std::vector<std::string>& features) {
  try {
    select_columns(uneven_partition(3, 0, 1), features, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::uint32_t> bits_of(const Table& table, std::size_t column) {
  std::vector<std::uint32_t> bits;
  for (const float value : table.column(column)) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

TEST(SelectColumns, PixelsAreStillThoseOfTheirPictures) {
  const Table table({.features = {"pixel1", "pixel2"}, .pictures = "size=2x1"}, 3, {0, 3});
  EXPECT_EQ(select_columns(table, {"pixel2"}, 1).schema().pictures, "size=2x1");
}

TEST(SelectColumns, FeaturesAreInTheOrderAskedForWithTheirCategoriesAndLabelAndWeight) {
  const Table table = uneven_partition(3000, 2, 3);
  for (const int n_threads : {1, 3}) {
    const Table selected = select_columns(table, {"c", "b"}, n_threads);
    EXPECT_EQ(selected.schema(),
              (Schema{.features = {"c", "b"}, .label = "y", .weight = "w", .categories = {{1, {{"red", "white"}}}}}));
    EXPECT_EQ(selected.rows(), table.rows());
    EXPECT_EQ(selected.n_global_rows(), 3000);
    const std::size_t expected[] = {2, 1, 3, 4};
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(bits_of(selected, j), bits_of(table, expected[j]));
  }
  EXPECT_EQ(select_columns(table, {"b", "a"}, 1).schema().categories.begin()->first, 0);
  EXPECT_TRUE(select_columns(table, {"a"}, 1).schema().categories.empty());
}

TEST(SelectColumns, ATableWithoutLabelOrRowsIsOneToo) {
  const Table none = select_columns(Table({.features = {"a", "b"}, .weight = "w"}, 10, {4, 4}), {"b"}, 2);
  EXPECT_EQ(none.schema(), (Schema{.features = {"b"}, .weight = "w"}));
  EXPECT_EQ(none.rows(), (RowRange{4, 4}));
}

TEST(SelectColumns, WhatCannotBeSelectedIsNamed) {
  EXPECT_EQ(refusal_of_features({"a", "zebra"}), "the table has no feature 'zebra'");
  EXPECT_EQ(refusal_of_features({"aa"}), "the table has no feature 'aa'; did you mean 'a'?");
  EXPECT_EQ(refusal_of_features({"a", "b", "a"}), "the feature 'a' is asked for twice");
  EXPECT_EQ(refusal_of_features({"y"}), "'y' is the label, which stays without being asked for");
  EXPECT_EQ(refusal_of_features({"w"}), "'w' is the weight, which stays without being asked for");
  EXPECT_EQ(refusal_of_features({}), "no features are asked for; at least one is needed");
}

}  // namespace
}  // namespace podere::table
