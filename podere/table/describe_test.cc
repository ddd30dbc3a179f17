#include "podere/table/describe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"

namespace podere::table {
namespace {

Table one_column(const std::vector<float>& values) {
  Table table({{"x"}, {}, {}}, values.size(), {0, values.size()});
  std::ranges::copy(values, table.feature(0).begin());
  return table;
}

ColumnSummary summary_of(const std::vector<float>& values) {
  return describe(one_column(values), comm::Communicator::self(), 2).at(0);
}

using Histogram = std::array<std::uint64_t, kHistogramBins>;

TEST(Describe, FindsWhatAPlainLoopFinds) {
  for (const std::size_t n : {2UL, 3UL, 17UL, 1023UL, 5001UL}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < n; ++i) {
      RandomSequence random(n, 0, i);
      values.push_back(i > 1 && random.uniform() < 0.1 ? kNaN : static_cast<float>(random.uniform() * 100 - 30));
    }
    std::vector<double> finite;
    for (const float value : values) {
      if (!std::isnan(value)) finite.push_back(value);
    }
    const ColumnSummary summary = summary_of(values);
    const auto [least, largest] = std::ranges::minmax(finite);
    long double sum = 0;
    for (const double value : finite) sum += value;
    EXPECT_EQ(summary.minimum, least);
    EXPECT_EQ(summary.maximum, largest);
    EXPECT_DOUBLE_EQ(summary.mean, static_cast<double>(sum / finite.size()));
    EXPECT_EQ(summary.n_rows, n);
    EXPECT_EQ(summary.n_missing, n - finite.size());
    EXPECT_DOUBLE_EQ(summary.missing_share(), static_cast<double>(n - finite.size()) / static_cast<double>(n));
    EXPECT_EQ(summary.n_infinite, 0U);
    Histogram expected{};
    for (const double value : finite) {
      const long double edge = (static_cast<long double>(value) - least) / (largest - least) * 16;
      ++expected[std::min<std::size_t>(15, static_cast<std::size_t>(edge))];
    }
    EXPECT_EQ(summary.histogram, expected);
  }
}

TEST(Describe, CountsDifferentValuesUpToALimit) {
  EXPECT_EQ(summary_of({1, 2, kNaN, 2, -0.0F, 0}).n_different, 3);
  EXPECT_EQ(summary_of({kNaN, kNaN}).n_different, 0);
  std::vector<float> values(kMostDifferent);
  std::iota(values.begin(), values.end(), 0.0F);
  EXPECT_EQ(summary_of(values).n_different, kMostDifferent);
  values.push_back(-1);
  values.push_back(-2);
  EXPECT_EQ(summary_of(values).n_different, kMostDifferent + 1);
}

TEST(Describe, CountsEdgesInTheBinThatTheyBegin) {
  const ColumnSummary summary = summary_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  EXPECT_EQ(summary.histogram, (Histogram{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
}

TEST(Describe, PutsAConstantColumnIntoTheFirstBin) {
  const ColumnSummary summary = summary_of({-2.5F, -2.5F, kNaN, -2.5F});
  EXPECT_EQ(summary.minimum, -2.5);
  EXPECT_EQ(summary.mean, -2.5);
  EXPECT_EQ(summary.maximum, -2.5);
  EXPECT_EQ(summary.histogram, Histogram{3});
}

TEST(Describe, HasNoNumbersForAColumnThatIsAllMissingOrEmpty) {
  for (const auto& values : {std::vector<float>{kNaN, kNaN}, std::vector<float>{}}) {
    const ColumnSummary summary = summary_of(values);
    EXPECT_TRUE(std::isnan(summary.minimum));
    EXPECT_TRUE(std::isnan(summary.mean));
    EXPECT_TRUE(std::isnan(summary.maximum));
    EXPECT_EQ(summary.n_missing, values.size());
    EXPECT_EQ(summary.missing_share(), values.empty() ? 0.0 : 1.0);
    EXPECT_EQ(summary.histogram, Histogram{});
  }
}

TEST(Describe, CountsInfinitiesApart) {
  const ColumnSummary summary = summary_of({1, kInfinity, 3, -kInfinity, kNaN, -kInfinity});
  EXPECT_EQ(summary.n_infinite, 3U);
  EXPECT_EQ(summary.n_missing, 1U);
  EXPECT_EQ(summary.minimum, 1);
  EXPECT_EQ(summary.mean, 2);
  EXPECT_EQ(summary.maximum, 3);
  EXPECT_EQ(std::accumulate(summary.histogram.begin(), summary.histogram.end(), std::uint64_t{0}), 2U);
}

TEST(Describe, SurvivesTheLargestAndTheSmallestFloats) {
  const float largest = std::numeric_limits<float>::max();
  const float smallest = std::numeric_limits<float>::denorm_min();
  const ColumnSummary wide = summary_of({-largest, largest, largest, 1});
  EXPECT_EQ(wide.mean, (static_cast<double>(largest) + 1) / 4);
  EXPECT_EQ(wide.histogram, (Histogram{1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2}));
  const ColumnSummary narrow = summary_of({0, smallest});
  EXPECT_EQ(narrow.histogram[0], 1U);
  EXPECT_EQ(narrow.histogram[15], 1U);
}

TEST(Describe, ListsFeaturesThenLabelThenWeight) {
  Table table({{"a", "b"}, "y", "w"}, 1, {0, 1});
  table.feature(0)[0] = 1;
  table.feature(1)[0] = 2;
  table.label()[0] = 3;
  table.weight()[0] = 4;
  const auto summaries = describe(table, comm::Communicator::self(), 3);
  ASSERT_EQ(summaries.size(), 4U);
  const std::vector<std::string> names = {"a", "b", "y", "w"};
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(summaries[j].name, names[j]);
    EXPECT_EQ(summaries[j].mean, static_cast<double>(j + 1));
  }
}

}  // namespace
}  // namespace podere::table
