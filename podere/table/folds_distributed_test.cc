#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/table/folds.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

/// Rows whose labels are classes, spread unevenly, none on rank 1.
Table table_of(std::uint64_t n, const std::function<float(std::uint64_t)>& label) {
  Table table = uneven_partition(n, world().rank(), world().size());
  for (std::size_t i = 0; i < table.n_rows(); ++i) table.label()[i] = label(table.global({i}).value);
  return table;
}

/// On all ranks, of all rows.
std::vector<std::uint8_t> folds_of(const Table& table, const FoldOptions& options) {
  return world().all_gather_v<std::uint8_t>(fold_of_rows(table, options, world()));
}

std::string refusal(const Table& table, const FoldOptions& options) {
  try {
    fold_of_rows(table, options, world());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

float rare_class(std::uint64_t row) { return row % 97 == 3 ? 2.0F : static_cast<float>(row % 2); }

TEST(FoldsDistributed, EachFoldHasItsShareOfEachClassOnAnyNumberOfRanks) {
  for (const std::uint64_t n : {600ULL, 6001ULL}) {
    const Table table = table_of(n, rare_class);
    const std::vector<std::uint8_t> folds = folds_of(table, {.n_folds = 5, .seed = 7, .by_class = true});
    ASSERT_EQ(folds.size(), n);
    for (int k = 0; k < 3; ++k) {
      std::vector<int> counts(5);
      for (std::uint64_t row = 0; row < n; ++row) counts.at(folds[row]) += rare_class(row) == static_cast<float>(k);
      const auto [least, most] = std::ranges::minmax(counts);
      EXPECT_LE(most - least, 1) << "class " << k << " of " << n << " rows";
    }
  }
  // Written down from one rank: any number deals the same.
  const std::vector<std::uint8_t> first = folds_of(table_of(600, rare_class), {.n_folds = 4, .by_class = true});
  std::uint64_t digest = 0;
  for (const std::uint8_t fold : first) digest = mix64(digest + fold);
  EXPECT_EQ(digest, 8363769343707263923U);
}

TEST(FoldsDistributed, WithoutClassesFoldsDifferByARowAtMost) {
  const Table table = table_of(1003, [](std::uint64_t) { return std::nanf(""); });
  const std::vector<std::uint8_t> folds = folds_of(table, {.n_folds = 7});
  std::vector<int> counts(7);
  for (const std::uint8_t fold : folds) ++counts.at(fold);
  const auto [least, most] = std::ranges::minmax(counts);
  EXPECT_EQ(most - least, 1);
}

TEST(FoldsDistributed, RepeatsAndSeedsHaveFoldsOfTheirOwn) {
  const Table table = table_of(1000, rare_class);
  const auto with = [&](std::size_t repeat, std::uint64_t seed) {
    return folds_of(table, {.n_folds = 5, .repeat = repeat, .seed = seed, .by_class = true});
  };
  const std::vector<std::uint8_t> first = with(0, 0);
  for (const auto& other : {with(1, 0), with(0, 1)}) {
    int n_same = 0;
    for (std::size_t i = 0; i < 1000; ++i) n_same += first[i] == other[i];
    EXPECT_GT(n_same, 100);  // a fifth by chance
    EXPECT_LT(n_same, 300);
  }
}

TEST(FoldsDistributed, TooFewRowsAreRefusedWithWhatIsAllowed) {
  const Table table = table_of(6, [](std::uint64_t row) { return row < 4 ? 0.0F : 1.0F; });
  EXPECT_EQ(refusal(table, {.n_folds = 2, .by_class = true}), "");
  EXPECT_EQ(refusal(table, {.n_folds = 3, .by_class = true}),
            "folds is 3, but class 1 of the label has 2 rows, allowed are 2 to 2 folds");
  EXPECT_EQ(refusal(table, {.n_folds = 7}), "folds is 7, but there are 6 rows");
  EXPECT_EQ(refusal(table, {.n_folds = 1}), "folds is 1, allowed is 2 to 100");
  EXPECT_EQ(refusal(table, {.n_folds = 101}), "folds is 101, allowed is 2 to 100");
  const Table one = table_of(6, [](std::uint64_t row) { return row == 5 ? 1.0F : 0.0F; });
  EXPECT_EQ(refusal(one, {.n_folds = 2, .by_class = true}),
            "class 1 of the label has 1 row: folds need at least two of each class");
}

}  // namespace
}  // namespace podere::table
