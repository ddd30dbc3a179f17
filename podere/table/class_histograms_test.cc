#include "podere/table/class_histograms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace podere::table {
namespace {

using Weights = std::vector<double>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A feature with a label.
Table table_of(const std::vector<float>& values, const std::vector<float>& labels) {
  Table table({.features = {"x"}, .label = "y"}, values.size(), {0, values.size()});
  std::ranges::copy(values, table.feature(0).begin());
  std::ranges::copy(labels, table.label().begin());
  return table;
}

ClassHistogram histogram_of(const Table& table, std::size_t n_classes, std::size_t n_bins) {
  const std::vector<std::size_t> features = {0};
  return class_histograms(table, features, n_classes, n_bins, comm::Communicator::self(), 1).at(0);
}

TEST(ClassHistograms, ValuesCountByClassAndBin) {
  const auto histogram = histogram_of(table_of({0, 1, 1, 3, 4}, {0, 0, 1, 1, 1}), 2, 4);
  EXPECT_EQ(histogram.low, 0);
  EXPECT_EQ(histogram.high, 4);
  EXPECT_EQ(histogram.weights[0], (Weights{1, 1, 0, 0}));
  EXPECT_EQ(histogram.weights[1], (Weights{0, 1, 0, 2}));
}

TEST(ClassHistograms, WhatIsNotFiniteCountsBesideTheBins) {
  const auto histogram = histogram_of(table_of({kNaN, kInfinity, -kInfinity, 0, 1}, {0, 1, 1, 1, 0}), 2, 1);
  EXPECT_EQ(histogram.missing, (Weights{1, 0}));
  EXPECT_EQ(histogram.above, (Weights{0, 1}));
  EXPECT_EQ(histogram.below, (Weights{0, 1}));
  EXPECT_EQ(histogram.weights[0], (Weights{1}));
}

TEST(ClassHistograms, WithOneClassAllRowsCount) {
  EXPECT_EQ(histogram_of(table_of({0, 1}, {-7, kNaN}), 1, 2).weights.at(0), (Weights{1, 1}));
}

TEST(ClassHistograms, RowsOfOtherLabelsCountNowhere) {
  EXPECT_EQ(histogram_of(table_of({0, 1, 1}, {0, 2, kNaN}), 2, 2).weights[1], (Weights{0, 0}));
}

TEST(ClassHistograms, AValueFarOutDoesNotSquashTheOthers) {
  std::vector<float> values(2000);
  std::iota(values.begin(), values.end(), 0.0F);
  values.back() = 1e9F;
  const auto histogram = histogram_of(table_of(values, values), 1, 10);
  EXPECT_EQ(histogram.low, 10);
  EXPECT_EQ(histogram.high, 1989);
  EXPECT_EQ(histogram.below, (Weights{10}));
  EXPECT_EQ(histogram.above, (Weights{10}));
  EXPECT_EQ(std::accumulate(histogram.weights[0].begin(), histogram.weights[0].end(), 0.0), 1980);
}

TEST(ClassHistograms, EqualValuesAreInTheMiddle) {
  const auto histogram = histogram_of(table_of({5, 5}, {0, 0}), 1, 3);
  EXPECT_EQ(histogram.low, 4.5);
  EXPECT_EQ(histogram.high, 5.5);
  EXPECT_EQ(histogram.weights[0], (Weights{0, 2, 0}));
}

TEST(ClassHistograms, WithoutAFiniteValueThereIsNoRange) {
  const auto histogram = histogram_of(table_of({kNaN, kInfinity}, {0, 0}), 1, 2);
  EXPECT_GE(histogram.low, histogram.high);
  EXPECT_EQ(histogram.above, (Weights{1}));
  EXPECT_EQ(histogram.missing, (Weights{1}));
}

TEST(ClassHistograms, EachCategoryHasABin) {
  Table table({.features = {"color"}, .categories = {{0, {{"red", "white", "blue"}}}}}, 3, {0, 3});
  table.feature(0)[0] = 0;
  table.feature(0)[1] = 2;
  table.feature(0)[2] = kNaN;
  const auto histogram = histogram_of(table, 1, 60);
  EXPECT_EQ(histogram.weights.at(0), (Weights{1, 0, 1}));
  EXPECT_EQ(histogram.missing, (Weights{1}));
  table.feature(0)[1] = 1;  // the last category is in no row here
  EXPECT_EQ(histogram_of(table, 1, 60).weights.at(0), (Weights{1, 1, 0}));
}

}  // namespace
}  // namespace podere::table
