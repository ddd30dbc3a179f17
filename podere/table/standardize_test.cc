#include "podere/table/standardize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

Table column_table(const std::vector<float>& values) {
  Table table({.features = {"x"}}, values.size(), {0, values.size()});
  std::ranges::copy(values, table.feature(0).begin());
  return table;
}

Scaling scaling_of(const std::vector<float>& values) {
  return measure_scaling(column_table(values), comm::Communicator::self(), 2);
}

std::vector<float> standardized(const std::vector<float>& values, const Scaling& scaling) {
  Table table = column_table(values);
  standardize(table, scaling, 2);
  return {table.feature(0).begin(), table.feature(0).end()};
}

TEST(Standardize, FindsWhatAPlainLoopFinds) {
  for (const std::size_t n : {2UL, 3UL, 17UL, 1023UL, 70001UL}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < n; ++i) {
      RandomSequence random(n, 0, i);
      values.push_back(i > 1 && random.uniform() < 0.1 ? kNaN : static_cast<float>(random.uniform() * 100 + 1000));
    }
    long double sum = 0, squares = 0, n_found = 0;
    for (const float x : values) {
      if (std::isnan(x)) continue;
      sum += x;
      ++n_found;
    }
    for (const float x : values) {
      if (!std::isnan(x)) squares += (x - sum / n_found) * (x - sum / n_found);
    }
    const Scaling scaling = scaling_of(values);
    EXPECT_NEAR(scaling.mean[0], static_cast<double>(sum / n_found), 1e-12 * scaling.mean[0]);
    EXPECT_NEAR(scaling.scale[0], static_cast<double>(std::sqrt(squares / n_found)), 1e-12 * scaling.scale[0]);

    const std::vector<float> result = standardized(values, scaling);
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(values[i])) {
        EXPECT_TRUE(std::isnan(result[i]));
      } else {
        EXPECT_EQ(result[i], static_cast<float>((values[i] - scaling.mean[0]) / scaling.scale[0]));
      }
    }
    const Scaling after = scaling_of(result);
    EXPECT_NEAR(after.mean[0], 0, 1e-6);
    EXPECT_NEAR(after.scale[0], 1, 1e-6);
  }
}

TEST(Standardize, ByHand) {
  EXPECT_EQ(scaling_of({1, 3, 3, 5, 8, 10, 12, 14}), (Scaling{{7}, {std::sqrt(19.5)}}));
  EXPECT_EQ(standardized({-1, 1}, {{0}, {0.5}}), (std::vector<float>{-2, 2}));
}

TEST(Standardize, EqualValuesBecomeZeroWhateverTheirMeanRoundsTo) {
  const float third = 1.0F / 3;
  const std::vector<float> values = {third, kNaN, third, third};
  EXPECT_EQ(scaling_of(values), (Scaling{{third}, {1}}));
  EXPECT_EQ(standardized(values, scaling_of(values))[0], 0);
  EXPECT_EQ(scaling_of({5}), (Scaling{{5}, {1}}));
  EXPECT_EQ(scaling_of({-0.0F, 0.0F}), (Scaling{{0}, {1}}));
  EXPECT_FALSE(std::signbit(scaling_of({-0.0F}).mean[0]));
}

TEST(Standardize, InfiniteValuesAreLeftOutAndStay) {
  const std::vector<float> values = {2, kInfinity, 4, -kInfinity, kNaN};
  const Scaling scaling = scaling_of(values);
  EXPECT_EQ(scaling, (Scaling{{3}, {1}}));
  const std::vector<float> result = standardized(values, scaling);
  EXPECT_EQ(std::vector(result.begin(), result.begin() + 4), (std::vector<float>{-1, kInfinity, 1, -kInfinity}));
  EXPECT_TRUE(std::isnan(result[4]));
}

TEST(Standardize, AFeatureWithoutFiniteValuesStays) {
  for (const std::vector<float>& values : {std::vector<float>{}, {kNaN, kNaN}, {kInfinity, kNaN}}) {
    EXPECT_EQ(scaling_of(values), (Scaling{{0}, {1}}));
  }
}

TEST(Standardize, TheLargestAndTheSmallestNumbersHaveAScale) {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(scaling_of({-most, most}), (Scaling{{0}, {most}}));
  EXPECT_EQ(standardized({-most, most}, scaling_of({-most, most})), (std::vector<float>{-1, 1}));
  EXPECT_EQ(standardized({0, least}, scaling_of({0, least})), (std::vector<float>{-1, 1}));
  EXPECT_EQ(standardized({1, -1}, {{0}, {1e-300}}), (std::vector<float>{kInfinity, -kInfinity}));
}

TEST(Standardize, CategoriesLabelAndWeightStay) {
  Table table = uneven_partition(5000, 0, 1);
  const Scaling scaling = measure_scaling(table, comm::Communicator::self(), 3);
  EXPECT_EQ(scaling.mean[1], 0);
  EXPECT_EQ(scaling.scale[1], 1);
  standardize(table, {{0, 5, 0}, {1, 5, 2}}, 3);
  const Table before = uneven_partition(5000, 0, 1);
  for (const std::size_t j : {0UL, 1UL, 3UL, 4UL}) {
    EXPECT_EQ(gathered_bits(table, j, comm::Communicator::self()),
              gathered_bits(before, j, comm::Communicator::self()));
  }
  EXPECT_NE(table.feature(2)[0], before.feature(2)[0]);
}

TEST(Standardize, ScalingsThatDoNotFitAreRefused) {
  EXPECT_THROW(standardized({1}, {{0, 0}, {1, 1}}), InputError);
  EXPECT_THROW(standardized({1}, {{0}, {}}), InputError);
  for (const double scale : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(standardized({1}, {{0}, {scale}}), InputError);
  for (const double mean : {std::nan(""), HUGE_VAL}) EXPECT_THROW(standardized({1}, {{mean}, {1}}), InputError);
}

}  // namespace
}  // namespace podere::table
