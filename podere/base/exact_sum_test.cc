#include "podere/base/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"

namespace podere {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

std::vector<std::int64_t> words_of(ExactSum sum) { return {sum.words().begin(), sum.words().end()}; }

/// Any finite double: all signs, exponents and fractions equally likely.
double any_finite(RandomSequence& random) {
  for (;;) {
    const auto x = std::bit_cast<double>(random.next());
    if (std::isfinite(x)) return x;
  }
}

TEST(ExactSum, OfNothingAndOfZerosIsPlusZero) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum_of({})), 0U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum_of({-0.0, -0.0})), 0U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum_of({-1.5, 1.5})), 0U);
}

TEST(ExactSum, OfOneValueIsThatValue) {
  RandomSequence random(1, 0, 0);
  for (int i = 0; i < 100000; ++i) {
    const double x = any_finite(random);
    EXPECT_EQ(sum_of({x}), x);
  }
  for (const double x : {kSmallest, 0x1.fffffffffffffp-1023, 0x1p-1022, 0x1.fffffffffffffp-1022, kLargest}) {
    EXPECT_EQ(sum_of({x}), x);
    EXPECT_EQ(sum_of({-x}), -x);
  }
}

TEST(ExactSum, OfTwoValuesIsWhatTheProcessorRoundsTo) {
  RandomSequence random(2, 0, 0);
  for (int i = 0; i < 200000; ++i) {
    const double x = any_finite(random);
    // Exponents within 60 of each other, so that both values matter.
    const double y = std::ldexp(random.uniform() - 0.5, std::ilogb(x) + static_cast<int>(random.next() % 120) - 60);
    EXPECT_EQ(sum_of({x, y}), x + y) << x << " + " << y;
    EXPECT_EQ(sum_of({x, -x, y}), y);
  }
}

TEST(ExactSum, OfTheExactPartsOfAProductIsAFusedMultiplyAdd) {
  RandomSequence random(3, 0, 0);
  for (int i = 0; i < 200000; ++i) {
    const double a = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.next() % 200) - 100);
    const double b = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.next() % 200) - 100);
    const double c = std::ldexp(-a * b * random.uniform(), static_cast<int>(random.next() % 120) - 60);
    const double high = a * b;
    const double low = std::fma(a, b, -high);
    EXPECT_EQ(sum_of({high, low, c}), std::fma(a, b, c));
  }
}

TEST(ExactSum, OfManyIntegersIsTheNearestDoubleToTheir128BitSum) {
  RandomSequence random(4, 0, 0);
  ExactSum sum;
  __int128 reference = 0;
  for (int i = 1; i <= 100000; ++i) {
    const auto x = static_cast<std::int64_t>(random.next()) >> (random.next() % 64) & ~std::int64_t{0x7ff};
    sum.add(static_cast<double>(x));
    reference += x;
    if (i % 997 == 0) {
      EXPECT_EQ(sum.value(), static_cast<double>(reference));
    }
  }
}

TEST(ExactSum, TiesRoundToEvenAndTheSmallestRestBreaksThem) {
  EXPECT_EQ(sum_of({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(sum_of({1.0, 0x1p-53, kSmallest}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({1.0, 0x1p-53, -kSmallest}), 1.0);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, 0x1p-53, -kSmallest}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({-1.0, -0x1p-53, -kSmallest}), -1.0 - 0x1p-52);
}

TEST(ExactSum, PassesOverTheLargestDoubleAndComesBack) {
  EXPECT_EQ(sum_of({kLargest, kLargest, 1.0, -kLargest, -kLargest}), 1.0);
  EXPECT_EQ(sum_of({kLargest, 0x1p969}), kLargest);
  EXPECT_EQ(sum_of({kLargest, 0x1p970}), kInfinity);
  EXPECT_EQ(sum_of({-kLargest, -kLargest}), -kInfinity);
}

TEST(ExactSum, KeepsCarriesOverManyAdditionsOfTheLargestMantissa) {
  for (const int exponent : {-1074 + 52, -3, 0, 31, 900}) {
    ExactSum sum;
    const double x = std::ldexp(0x1.fffffffffffffp52, exponent);
    for (int i = 0; i < 1 << 16; ++i) sum.add(-x);
    EXPECT_EQ(sum.value(), -x * 0x1p16);
  }
}

TEST(ExactSum, InfinitiesAndNaNStay) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sum_of({kInfinity, -kLargest}), kInfinity);
  EXPECT_EQ(sum_of({1.0, -kInfinity}), -kInfinity);
  EXPECT_TRUE(std::isnan(sum_of({kInfinity, -kInfinity})));
  EXPECT_TRUE(std::isnan(sum_of({1.0, nan, kInfinity})));
  EXPECT_TRUE(std::isnan(sum_of({-nan})));
}

TEST(ExactSum, HasTheSameWordsInAnyOrderAndAnyGrouping) {
  RandomSequence random(5, 0, 0);
  std::vector<double> values(5001);
  for (double& value : values) value = any_finite(random);
  values[17] = kInfinity;
  ExactSum forward, backward, grouped, from_words;
  for (const double value : values) forward.add(value);
  for (auto value = values.rbegin(); value != values.rend(); ++value) backward.add(*value);
  std::vector<std::int64_t> words(ExactSum::kWords, 0);
  for (std::size_t begin = 0; begin < values.size(); begin += 123) {
    ExactSum part;
    for (std::size_t i = begin; i < std::min(values.size(), begin + 123); ++i) part.add(values[i]);
    grouped.add(part);
    for (std::size_t w = 0; w < words.size(); ++w) words[w] += part.words()[w];
  }
  from_words.set_words(std::span(words).first<ExactSum::kWords>());
  EXPECT_EQ(words_of(forward), words_of(backward));
  EXPECT_EQ(words_of(forward), words_of(grouped));
  EXPECT_EQ(words_of(forward), words_of(from_words));
}

TEST(ExactSum, OfTheWordsOfAMillionRanksIsExact) {
  ExactSum one;
  one.add(-kLargest);
  one.add(kSmallest);
  std::vector<std::int64_t> words = words_of(one);
  for (std::int64_t& word : words) word *= 1 << 20;
  ExactSum all;
  all.set_words(std::span(words).first<ExactSum::kWords>());
  for (int i = 0; i < 20; ++i) one.add(one);
  EXPECT_EQ(words_of(all), words_of(one));
}

}  // namespace
}  // namespace podere
