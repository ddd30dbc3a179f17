#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/table/test_partitions.h"
#include "podere/table/value_folds.h"

namespace podere::table {
namespace {

using OfRow = std::function<float(std::uint64_t)>;

/// Labels and a column, spread unevenly, nothing on rank 1.
struct Rows {
  Rows(std::uint64_t n, const OfRow& label, const OfRow& value)
      : table(uneven_partition(n, world().rank(), world().size())), column({.features = {"patient"}}, n, table.rows()) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) {
      table.label()[i] = label(table.global({i}).value);
      column.feature(0)[i] = value(table.global({i}).value);
    }
  }
  Table table;
  Table column;
};

std::vector<std::uint8_t> on_all_ranks(const ValueFolds& folds) {
  return world().all_gather_v<std::uint8_t>(folds.of_rows);
}

std::vector<std::uint8_t> groups_of(const Rows& rows, const FoldOptions& options) {
  return on_all_ranks(folds_of_groups(rows.column, rows.table, options, world()));
}

std::vector<std::uint8_t> runs_of(const Rows& rows, const FoldOptions& options) {
  return on_all_ranks(runs_in_order(rows.column, rows.table, options, world()));
}

std::string refusal(const std::function<void()>& deal) {
  try {
    deal();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// 211 patients, of whom some have many more rows than others, in no order.
float patient(std::uint64_t row) {
  const std::uint64_t drawn = hash64(1, 2, row) % (211 * 211);
  return static_cast<float>(static_cast<int>(std::sqrt(static_cast<double>(drawn))) - 100);
}

float ill(std::uint64_t row) { return hash64(5, 5, row) % 10 < 3 ? 1.0F : 0.0F; }

TEST(ValueFoldsDistributed, RowsOfOneValueAreInOneFoldAndFoldsHaveTheirShareOfRowsAndClasses) {
  const std::uint64_t n = 6001;
  const Rows rows(n, ill, patient);
  const auto found = folds_of_groups(rows.column, rows.table, {.n_folds = 5, .seed = 3, .by_class = true}, world());
  const std::vector<std::uint8_t> folds = on_all_ranks(found);
  ASSERT_EQ(folds.size(), n);
  std::map<float, std::set<int>> folds_of;
  std::vector<std::vector<int>> counts(2, std::vector<int>(5));
  for (std::uint64_t row = 0; row < n; ++row) {
    folds_of[patient(row)].insert(folds[row]);
    ++counts[static_cast<std::size_t>(ill(row))].at(folds[row]);
  }
  EXPECT_EQ(found.n_values, folds_of.size());
  for (const auto& [value, its_folds] : folds_of) EXPECT_EQ(its_folds.size(), 1) << value;
  for (const auto& of_class : counts) {
    const auto [least, most] = std::ranges::minmax(of_class);
    EXPECT_LE(most - least, 12) << "the smallest groups fill what larger ones left";
  }
}

TEST(ValueFoldsDistributed, GroupsAreDealtAlikeOnAnyNumberOfRanks) {
  const Rows rows(600, ill, patient);
  std::uint64_t digest = 0;
  for (const std::uint8_t fold : groups_of(rows, {.n_folds = 4, .by_class = true})) digest = mix64(digest + fold);
  EXPECT_EQ(digest, 5254754996062408867U);
}

TEST(ValueFoldsDistributed, TheLargestGroupsAreDealtFirstEachToTheFoldWithTheFewestRows) {
  // Groups 0 .. 5 of 6, 5, 4, 3, 2, 1 rows.
  const auto group = [](std::uint64_t row) {
    std::uint64_t end = 6;
    for (int g = 0; g < 6; end += static_cast<std::uint64_t>(5 - g), ++g) {
      if (row < end) return static_cast<float>(g);
    }
    return 6.0F;
  };
  const Rows rows(21, ill, group);
  const std::vector<std::uint8_t> folds = groups_of(rows, {.n_folds = 3});
  const std::vector<std::uint8_t> first = {folds[0], folds[6], folds[11], folds[15], folds[18], folds[20]};
  EXPECT_EQ(first, (std::vector<std::uint8_t>{0, 1, 2, 2, 1, 0}));
}

TEST(ValueFoldsDistributed, RepeatsAndSeedsDealGroupsOfTheSameSizeAnew) {
  const Rows rows(1000, ill, [](std::uint64_t row) { return static_cast<float>(row / 2); });
  const std::vector<std::uint8_t> first = groups_of(rows, {.n_folds = 5});
  for (const FoldOptions& other : {FoldOptions{.n_folds = 5, .repeat = 1}, FoldOptions{.n_folds = 5, .seed = 1}}) {
    const std::vector<std::uint8_t> folds = groups_of(rows, other);
    int n_same = 0;
    for (std::size_t i = 0; i < 1000; ++i) n_same += first[i] == folds[i];
    EXPECT_GT(n_same, 100);  // a fifth by chance
    EXPECT_LT(n_same, 300);
  }
}

TEST(ValueFoldsDistributed, RunsRiseWithTheValueAndAreEquallyLongButForTies) {
  const auto day = [](std::uint64_t row) { return static_cast<float>(hash64(1, 1, row) % 900) - 450; };
  const std::uint64_t n = 6001;
  const Rows rows(n, ill, day);
  const std::vector<std::uint8_t> runs = runs_of(rows, {.n_folds = 4, .by_class = true});
  std::vector<std::pair<float, int>> by_day;
  for (std::uint64_t row = 0; row < n; ++row) by_day.emplace_back(day(row), runs.at(row));
  std::ranges::sort(by_day);
  EXPECT_EQ(by_day.front().second, 0);
  EXPECT_EQ(by_day.back().second, 4);
  std::vector<int> counts(5);
  for (std::size_t i = 0; i < n; ++i) {
    ++counts.at(static_cast<std::size_t>(by_day[i].second));
    if (i == 0) continue;
    EXPECT_GE(by_day[i].second, by_day[i - 1].second);
    const bool is_tie = by_day[i].first == by_day[i - 1].first;
    EXPECT_TRUE(!is_tie || by_day[i].second == by_day[i - 1].second) << by_day[i].first;
  }
  for (const int count : counts) EXPECT_NEAR(count, 1200, 20);
}

TEST(ValueFoldsDistributed, MinusZeroIsZeroAndInfinityIsAValue) {
  const auto value = [](std::uint64_t row) {
    return row % 4 == 0 ? 0.0F : row % 4 == 1 ? -0.0F : row % 4 == 2 ? INFINITY : -INFINITY;
  };
  const Rows rows(40, ill, value);
  const std::vector<std::uint8_t> runs = runs_of(rows, {.n_folds = 2});
  EXPECT_EQ(std::vector<std::uint8_t>(runs.begin(), runs.begin() + 4), (std::vector<std::uint8_t>{1, 1, 2, 0}));
}

TEST(ValueFoldsDistributed, WhatCannotBeDealtIsRefusedOnAllRanks) {
  const auto modulo = [](std::uint64_t n) { return [n](std::uint64_t row) { return static_cast<float>(row % n); }; };
  const auto group = [&](const Rows& rows, const FoldOptions& options) {
    return refusal([&] { groups_of(rows, options); });
  };
  const auto order = [&](const Rows& rows, const FoldOptions& options) {
    return refusal([&] { runs_of(rows, options); });
  };
  const Rows four(100, ill, modulo(4));
  EXPECT_EQ(group(four, {.n_folds = 4}), "");
  EXPECT_EQ(group(four, {.n_folds = 5}),
            "folds is 5, but the column 'patient' has 4 different values, allowed are 2 to 4 folds");
  EXPECT_EQ(group(Rows(100, ill, modulo(1)), {.n_folds = 5}),
            "folds is 5, but the column 'patient' has 1 different values, and at least two are needed");
  EXPECT_EQ(group(four, {.n_folds = 101}), "folds is 101, allowed is 2 to 100");
  const Rows gaps(100, ill, [](std::uint64_t row) { return row % 50 == 7 ? NAN : static_cast<float>(row); });
  for (const auto& refused : {group(gaps, {.n_folds = 3}), order(gaps, {.n_folds = 3})}) {
    EXPECT_EQ(refused, "the column 'patient' says which rows are held out, and is missing in 2 of 100 rows");
  }
  const Rows lone(
      100, [](std::uint64_t row) { return row % 4 == 3 ? 1.0F : 0.0F; }, modulo(4));
  EXPECT_EQ(group(lone, {.n_folds = 3}), "");
  EXPECT_EQ(group(lone, {.n_folds = 3, .by_class = true}),
            "class 1 of the label is in one fold alone, which a model would predict that never saw it: too few values "
            "of 'patient' have it");
  EXPECT_EQ(order(four, {.n_folds = 3}), "");
  EXPECT_EQ(order(four, {.n_folds = 5}),
            "folds is 5, but too many rows have the same 'patient' to cut them into 6 runs, 3 folds can be made");
  EXPECT_EQ(order(Rows(100, ill, modulo(2)), {.n_folds = 2}),
            "too many rows have the same 'patient' to cut them into runs, of which folds need at least three");
  const Rows late(
      100, [](std::uint64_t row) { return row < 50 ? 0.0F : 1.0F; }, modulo(100));
  EXPECT_EQ(order(late, {.n_folds = 3}), "");
  EXPECT_EQ(order(late, {.n_folds = 3, .by_class = true}),
            "class 1 of the label is not among the first 25 rows by 'patient', on which the first fold is trained: "
            "fewer folds have more");
  Table categories({.features = {"patient"}, .categories = {{0, {{"a", "b"}}}}}, 100, four.table.rows());
  EXPECT_EQ(refusal([&] { runs_in_order(categories, four.table, {.n_folds = 3}, world()); }),
            "the column 'patient' holds categories, which have no order");
}

}  // namespace
}  // namespace podere::table
