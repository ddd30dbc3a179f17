#include "podere/table/row_source.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/base/error.h"

namespace podere::table {
namespace {

/// Values that depend on their column and the global row.
float value_of(std::size_t column, std::uint64_t row) { return static_cast<float>(10000 * column + row); }

void fill(Table& window) {
  for (std::size_t i = 0; i < window.n_rows(); ++i) {
    const std::uint64_t row = window.global({i}).value;
    for (std::size_t j = 0; j < window.n_features(); ++j) window.feature(j)[i] = value_of(j, row);
    window.label()[i] = value_of(2, row);
    if (!window.weight().empty()) window.weight()[i] = value_of(3, row);
  }
}

TEST(ReadRows, WindowsAreAllRowsHereInOrder) {
  for (const bool has_weight : {false, true}) {
    Schema schema{.features = {"a", "b"}, .label = "y", .weight = {}, .categories = {{1, Dictionary()}}};
    if (has_weight) schema.weight = "w";
    const RowRange here{2048, 2048 + 3500};
    for (const std::size_t window_bytes : {1UL, 40'000UL, kWindowBytes}) {
      const ReadRows rows(schema, 9000, here, fill, window_bytes);
      EXPECT_EQ(rows.schema(), schema);
      EXPECT_FALSE(rows.holds_features());
      EXPECT_EQ(rows.labels().rows(), here);
      EXPECT_EQ(rows.labels().n_global_rows(), 9000);
      for (int pass = 0; pass < 2; ++pass) {
        std::uint64_t next = here.begin;
        rows.for_each_window([&](const Table& window) {
          EXPECT_EQ(window.rows().begin, next);
          EXPECT_EQ(window.schema(), schema);
          EXPECT_LE(window.n_rows(), std::max<std::size_t>(kBlockRows, window_bytes / 16));
          for (; next < window.rows().end; ++next) {
            const std::size_t i = next - window.rows().begin;
            EXPECT_EQ(window.feature(0)[i], value_of(0, next));
            EXPECT_EQ(window.feature(1)[i], value_of(1, next));
          }
        });
        EXPECT_EQ(next, here.end);
      }
      for (std::uint64_t row = here.begin; row < here.end; ++row) {
        EXPECT_EQ(rows.labels().label()[row - here.begin], value_of(2, row));
        if (has_weight) {
          EXPECT_EQ(rows.labels().weight()[row - here.begin], value_of(3, row));
        }
      }
      EXPECT_EQ(rows.labels().weight().empty(), !has_weight);
    }
  }
}

TEST(ReadRows, WhatCannotBeReadIsReported) {
  const Schema schema{.features = {"a"}, .label = "y", .weight = {}};
  const auto break_off = [](Table& window) {
    if (window.rows().begin >= 2048) throw InputError("broken off");
    fill(window);
  };
  EXPECT_THROW(ReadRows(schema, 3000, {0, 3000}, break_off, 1), InputError);
  const ReadRows short_enough(schema, 2048, {0, 2048}, break_off, 1);
}

TEST(ReadRows, NoRowsHaveNoWindows) {
  const ReadRows rows({.features = {"a"}, .label = "y", .weight = {}}, 3000, {3000, 3000}, fill);
  rows.for_each_window([](const Table&) { FAIL() << "a window"; });
}

TEST(HeldRows, AreOneWindow) {
  Table table({.features = {"a", "b"}, .label = "y", .weight = {}}, 10, {2, 9});
  fill(table);
  const HeldRows rows(table);
  EXPECT_TRUE(rows.holds_features());
  int n_windows = 0;
  rows.for_each_window([&](const Table& window) {
    ++n_windows;
    EXPECT_EQ(&window, &table);
  });
  EXPECT_EQ(n_windows, 1);
  rows.release_features(2);  // of a table that is borrowed: it keeps them
  EXPECT_EQ(table.feature(1)[6], value_of(1, 8));
}

}  // namespace
}  // namespace podere::table
