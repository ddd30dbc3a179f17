#include "podere/tree/cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/test_numbers.h"
#include "podere/tree/binning_kernel.h"
#include "podere/tree/test_tables.h"

namespace podere::tree {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();

std::vector<FeatureCuts> cuts_of(const std::vector<float>& feature, int max_bins) {
  const table::Table table = make_table({feature}, std::vector<float>(feature.size()));
  const std::vector<std::uint8_t> is_used(feature.size(), 1);
  return find_cuts(table::HeldRows(table), is_used, max_bins, 0, alone(), 1);
}

std::vector<std::uint8_t> bins_of(const FeatureCuts& cuts, const std::vector<float>& values) {
  std::vector<std::uint8_t> bins(values.size());
  find_bins(CutTable(cuts), values, bins.data());
  return bins;
}

TEST(CutsTest, FewDistinctValuesGetABinEach) {
  EXPECT_EQ(quantile_cuts(std::vector<float>{1, 1, 1, 2, 4}, 3), (std::vector<float>{1.5, 3}));
}

TEST(CutsTest, ManyValuesShareBinsEvenly) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  EXPECT_EQ(quantile_cuts(values, 4), (std::vector<float>{249.5, 499.5, 749.5}));
}

TEST(CutsTest, AHeavyValueKeepsABinAndLeavesTheOthersToTheRest) {
  std::vector<float> values(900, 0.0F);
  for (int i = 1; i <= 100; ++i) values.push_back(static_cast<float>(i));
  const std::vector<float> cuts = quantile_cuts(values, 11);
  ASSERT_EQ(cuts.size(), 10);
  EXPECT_EQ(cuts[0], 0.5F);
  EXPECT_EQ(cuts[1], 10.5F);
}

TEST(CutsTest, OneValueOrNoneHasNoCut) {
  EXPECT_TRUE(quantile_cuts(std::vector<float>{3, 3, 3}, 256).empty());
  EXPECT_TRUE(quantile_cuts({}, 256).empty());
}

TEST(CutsTest, CutsAreFiniteAndSeparateTheirNeighbors) {
  const float next = std::nextafter(1.0F, 2.0F);
  const std::vector<float> values{-kInfinity, -kMax, -1,   0,        std::numeric_limits<float>::denorm_min(),
                                  1,          next,  kMax, kInfinity};
  const std::vector<float> cuts = quantile_cuts(values, 256);
  ASSERT_EQ(cuts.size(), values.size() - 1);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {  // the last pair's only finite cut is kMax itself
    EXPECT_TRUE(std::isfinite(cuts[i]));
    EXPECT_LT(values[i], cuts[i]);
    EXPECT_LE(cuts[i], values[i + 1]);
  }
}

TEST(CutsTest, BinsCountTheCutsAtOrBelow) {
  for (const std::size_t n_cuts : {0, 1, 2, 7, 127, 128, 254, 255}) {
    FeatureCuts cuts;
    for (std::size_t i = 0; i < n_cuts; ++i) cuts.cuts.push_back(static_cast<float>(i) - 100.5F);
    std::vector<float> values{-kInfinity, -kMax, -0.0F, 0.0F, kMax, kInfinity};
    for (const float cut : cuts.cuts) {
      values.insert(values.end(), {cut, std::nextafter(cut, -kInfinity), std::nextafter(cut, kInfinity)});
    }
    const std::vector<std::uint8_t> bins = bins_of(cuts, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto expected = std::upper_bound(cuts.cuts.begin(), cuts.cuts.end(), values[i]) - cuts.cuts.begin();
      EXPECT_EQ(bins[i], expected) << values[i] << " of " << n_cuts << " cuts";
    }
  }
}

TEST(CutsTest, MissingValuesHaveTheBinAfterTheOthers) {
  const std::vector<FeatureCuts> cuts = cuts_of({1, kNaN, 2, 3}, 256);
  EXPECT_TRUE(cuts[0].has_missing);
  EXPECT_EQ(bins_of(cuts[0], {1, kNaN, 3}),
            (std::vector<std::uint8_t>{0, static_cast<std::uint8_t>(cuts[0].missing_bin()), 2}));
  EXPECT_EQ(cuts[0].n_bins(), cuts[0].missing_bin() + 1);
}

TEST(CutsTest, BinsNeverExceedTheirNumberWithMissingValues) {
  for (const int max_bins : {2, 3, 4, 16, 256}) {
    std::vector<float> values{kNaN};
    for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i));
    EXPECT_LE(cuts_of(values, max_bins)[0].n_bins(), std::max(3, max_bins)) << max_bins;
  }
}

TEST(CutsTest, AColumnWithoutValuesHasNoCuts) {
  const std::vector<FeatureCuts> cuts = cuts_of({kNaN, kNaN}, 256);
  EXPECT_TRUE(cuts[0].cuts.empty());
  EXPECT_EQ(cuts[0].n_bins(), 2);
}

TEST(CutsTest, RowsThatAreNotUsedDoNotCount) {
  const table::Table table = make_table({{1, 2, 3, 4}}, {0, 0, 0, 0});
  const std::vector<std::uint8_t> is_used{1, 0, 0, 1};
  EXPECT_EQ(find_cuts(table::HeldRows(table), is_used, 256, 0, alone(), 1)[0].cuts, std::vector<float>{2.5});
}

}  // namespace
}  // namespace podere::tree
