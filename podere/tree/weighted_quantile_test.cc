#include "podere/tree/weighted_quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "podere/base/hash.h"
#include "podere/tree/fixed_point.h"
#include "podere/tree/test_tables.h"

namespace podere::tree {
namespace {

float quantile_of(const std::vector<float>& values, const std::vector<std::int64_t>& weights, double q) {
  const std::vector<Slice> whole{{0, values.size()}};
  return weighted_quantiles({values, weights}, whole, q, alone(), 3)[0];
}

float quantile_of(const std::vector<float>& values, double q) {
  return quantile_of(values, std::vector<std::int64_t>(values.size(), 1), q);
}

/// From the definition: sort, add up, stop when enough is reached.
float plain_quantile(const std::vector<float>& values, const std::vector<std::int64_t>& weights, double q) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  const std::int64_t total = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  std::int64_t sum = 0;
  for (const std::size_t i : order) {
    sum += weights[i];
    if (static_cast<double>(sum) >= q * static_cast<double>(total)) return values[i];
  }
  return 0;
}

TEST(WeightedQuantileTest, OfAFewValuesIsTheOneByHand) {
  EXPECT_EQ(quantile_of({3, -1, 2}, 0.5), 2);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, 0.5), 2);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, 0.51), 3);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, 0.01), -1);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, 0.99), 10);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, {1, 7, 1, 1}, 0.5), -1);
  EXPECT_EQ(quantile_of({3, -1, 2, 10}, {0, 0, 0, 1}, 0.01), 10);
  EXPECT_EQ(quantile_of({7}, 0.3), 7);
}

TEST(WeightedQuantileTest, ValuesOfAnySizeAndSignAreOrderedAsNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float largest = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> rising{-infinity, -largest, -1, -least, 0, least, 1, largest, infinity};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    const double q = (static_cast<double>(i) + 0.5) / static_cast<double>(rising.size());
    EXPECT_EQ(quantile_of(rising, q), rising[i]) << i;
  }
  EXPECT_FALSE(std::signbit(quantile_of({-0.0F, 0.0F, -0.0F}, 0.5)));
}

TEST(WeightedQuantileTest, IsWhatSortingFinds) {
  for (const std::size_t n : {1UL, 2UL, 17UL, 20001UL}) {
    std::vector<float> values;
    std::vector<std::int64_t> weights;
    for (std::size_t i = 0; i < n; ++i) {
      RandomSequence random(n, 0, i);
      const double x = std::exp(8 * random.uniform()) * (random.uniform() - 0.4);
      values.push_back(static_cast<float>(i % 3 == 0 ? std::round(x / 100) : x));
      weights.push_back(static_cast<std::int64_t>(random.next() % 1000));
    }
    for (const double q : {0.001, 0.1, 0.5, 0.9, 0.999}) {
      EXPECT_EQ(quantile_of(values, weights, q), plain_quantile(values, weights, q)) << n << " " << q;
    }
  }
}

TEST(WeightedQuantileTest, GroupsAreIndependentAndMayBeMany) {
  const std::size_t n_groups = 5000;  // more than are searched at once
  std::vector<float> values;
  std::vector<Slice> groups;
  for (std::size_t i = 0; i < n_groups; ++i) {
    groups.push_back({values.size(), values.size() + i % 4});
    for (std::size_t k = 0; k < i % 4; ++k) values.push_back(static_cast<float>(i + k));
  }
  const std::vector<std::int64_t> weights(values.size(), 1);
  const auto found = weighted_quantiles({values, weights}, groups, 0.5, alone(), 2);
  ASSERT_EQ(found.size(), n_groups);
  for (std::size_t i = 0; i < n_groups; ++i) {
    EXPECT_EQ(found[i], i % 4 == 0 ? 0.0F : static_cast<float>(i + (i % 4 - 1) / 2)) << i;
  }
}

TEST(WeightedQuantileTest, NegativeWeightsLeaveAValueWhereTheSumCrosses) {
  // Sums of weights up to 1, 2, 3, 4 are 3, 1, 4, 5: q = 0.5 wants 2.5, which is crossed upwards at 1 and at 3.
  const float found = quantile_of({1, 2, 3, 4}, {3, -2, 3, 1}, 0.5);
  EXPECT_TRUE(found == 1 || found == 3) << found;
  EXPECT_EQ(quantile_of({1, 2}, {1, -1}, 0.5), 0);
  EXPECT_EQ(quantile_of({1, 2}, {1, -3}, 0.5), 0);
}

TEST(WeightedQuantileTest, FixedPointSumsKeepRoomForTheirSign) {
  for (const double bound : {1e-30, 0.3, 1.0, 3e38}) {
    for (const std::uint64_t n : {1ULL, 1000ULL, 2147483647ULL}) {
      const double sum = bound * static_cast<double>(n) * fixed_point_scale(bound, n);
      EXPECT_LT(sum, 0x1p62);
      EXPECT_GE(sum, 0x1p61);
    }
  }
}

}  // namespace
}  // namespace podere::tree
