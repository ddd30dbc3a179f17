#include "podere/table/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "podere/base/error.h"

namespace podere::table {
namespace {

TEST(Table, KeepsItsColumnsApart) {
  Table table({{"a", "b", "c"}, "y", "w"}, 100, {10, 17});
  for (std::size_t j = 0; j < 3; ++j) std::ranges::fill(table.feature(j), static_cast<float>(j));
  std::ranges::fill(table.label(), 10.0F);
  std::ranges::fill(table.weight(), 20.0F);
  const Table& view = table;
  EXPECT_EQ(view.n_rows(), 7U);
  EXPECT_EQ(view.n_global_rows(), 100U);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(view.feature(j).size(), 7U);
    EXPECT_EQ(std::ranges::count(view.feature(j), static_cast<float>(j)), 7);
  }
  EXPECT_EQ(std::ranges::count(view.label(), 10.0F), 7);
  EXPECT_EQ(std::ranges::count(view.weight(), 20.0F), 7);
}

TEST(Table, FindsTheWeightWithoutALabel) {
  Table table({{"a"}, std::nullopt, "w"}, 3, {0, 3});
  std::ranges::fill(table.feature(0), 1.0F);
  std::ranges::fill(table.weight(), 2.0F);
  EXPECT_TRUE(table.label().empty());
  EXPECT_EQ(std::ranges::count(table.feature(0), 1.0F), 3);
  EXPECT_EQ(std::ranges::count(table.weight(), 2.0F), 3);
}

TEST(Table, MayHaveNoRowsAndNoColumns) {
  const Table empty({}, 0, {0, 0});
  EXPECT_EQ(empty.n_features(), 0U);
  EXPECT_TRUE(empty.label().empty());
  EXPECT_TRUE(empty.weight().empty());
  const Table elsewhere({{"a"}, "y", std::nullopt}, 50, {50, 50});
  EXPECT_EQ(elsewhere.feature(0).size(), 0U);
}

TEST(Table, KnowsTheGlobalNumberOfALocalRow) {
  const Table table({{"a"}, {}, {}}, 5000, {1024, 2048});
  EXPECT_EQ(table.global(LocalRow{0}), GlobalRow{1024});
  EXPECT_EQ(table.global(LocalRow{1023}), GlobalRow{2047});
}

TEST(Table, KeepsItsValuesWhenMoved) {
  Table table({{"a"}, {}, {}}, 2, {0, 2});
  table.feature(0)[1] = 5;
  const Table moved = std::move(table);
  EXPECT_EQ(moved.feature(0)[1], 5);
}

TEST(Table, KeepsAllElseWhenFeaturesAreReleased) {
  constexpr std::uint64_t kRows = 400'000;
  Table table({{"a", "b", "c"}, "y", "w"}, kRows, {0, kRows});
  std::ranges::fill(table.feature(2), 2.0F);
  std::ranges::fill(table.label(), 10.0F);
  std::ranges::fill(table.weight(), 20.0F);
  table.release_features(1);
  table.release_features(2);
  EXPECT_EQ(std::ranges::count(table.feature(2), 2.0F), kRows);
  table.release_features(3);
  EXPECT_EQ(std::ranges::count(table.label(), 10.0F), kRows);
  EXPECT_EQ(std::ranges::count(table.weight(), 20.0F), kRows);
}

TEST(Table, RefusesRowsBeyondTheTable) {
  EXPECT_THROW(Table({{"a"}, {}, {}}, 10, {5, 11}), InputError);
  EXPECT_THROW(Table({{"a"}, {}, {}}, 10, {6, 5}), InputError);
}

}  // namespace
}  // namespace podere::table
