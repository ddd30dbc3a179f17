#include "podere/base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

namespace podere {
namespace {

/// Chi-square of `n` draws of uniform01 in 256 bins, as standard deviations from its mean (255, variance 510).
double deviation(std::size_t n, const std::function<std::uint64_t(std::size_t)>& draw) {
  std::vector<double> counts(256, 0);
  for (std::size_t i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(uniform01(draw(i)) * 256)];
  const double expected = static_cast<double>(n) / 256;
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
  return (chi_square - 255) / std::sqrt(510.0);
}

// Keys are fixed, so that these tests do not fail by chance; 5 standard deviations would be one chance in 10^6.
constexpr double kBound = 5;
constexpr std::size_t kDraws = 1 << 18;

TEST(Hash, IsUniformAlongEachOfItsKeys) {
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(i, 0, 0); })), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(0, i, 0); })), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(0, 0, i); })), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(1, 2, i << 40); })), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(i, i, i) << 32; })), kBound);
}

TEST(Hash, OfNeighborsIsIndependent) {
  const auto difference = [](std::size_t i) { return hash64(3, 1, i) - hash64(3, 1, i + 1); };
  EXPECT_LT(std::fabs(deviation(kDraws, difference)), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(3, 1, i) ^ hash64(3, 2, i); })), kBound);
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return hash64(3, 1, i) ^ hash64(4, 1, i); })), kBound);
}

TEST(Hash, FlipsEveryBitOfTheResultHalfTheTimeForEveryBitOfTheKey) {
  constexpr std::uint64_t kKeys = 4096;
  for (int bit = 0; bit < 64; ++bit) {
    std::vector<int> flips(64, 0);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::uint64_t changed = hash64(1, 1, i) ^ hash64(1, 1, i ^ 1ULL << bit);
      for (int b = 0; b < 64; ++b) flips[static_cast<std::size_t>(b)] += static_cast<int>(changed >> b & 1);
    }
    // 2048 expected, standard deviation 32; 4096 pairs of bits are looked at.
    for (const int n : flips) EXPECT_NEAR(n, 2048, 6 * 32) << "key bit " << bit;
  }
}

TEST(Hash, MixIsABijectionOnASample) {
  std::vector<std::uint64_t> values(kDraws);
  for (std::size_t i = 0; i < kDraws; ++i) values[i] = mix64(i);
  std::ranges::sort(values);
  EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
}

TEST(Hash, UniformIsInTheHalfOpenUnitInterval) {
  EXPECT_EQ(uniform01(0), 0.0);
  EXPECT_EQ(uniform01(~0ULL), 1 - 0x1p-53);
}

TEST(RandomSequence, IsUniformAndBelongsToItsKey) {
  RandomSequence sequence(1, 2, 3);
  EXPECT_LT(std::fabs(deviation(kDraws, [&](std::size_t) { return sequence.next(); })), kBound);
  RandomSequence same(1, 2, 3), again(1, 2, 3), other(1, 2, 4);
  EXPECT_EQ(same.next(), again.next());
  EXPECT_NE(same.next(), other.next());
  EXPECT_LT(std::fabs(deviation(kDraws, [](std::size_t i) { return RandomSequence(1, 2, i).next(); })), kBound);
}

}  // namespace
}  // namespace podere
