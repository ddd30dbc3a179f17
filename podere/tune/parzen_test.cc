#include "podere/tune/parzen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "podere/tune/normal.h"

namespace podere::tune {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
const Dimension kReal{.places = {-1, 3}, .is_counted = false, .is_choice = false};
const Dimension kCount{.places = {-0.5, 6.5}, .is_counted = true, .is_choice = false};
const Dimension kChoice{.places = {-0.5, 2.5}, .is_counted = true, .is_choice = true};

TEST(Normal, IsThatOfTheLibraryOfMathematics) {
  for (double z = -9; z <= 9; z += 0.0625) {
    EXPECT_NEAR(normal_below(z), 0.5 * std::erfc(-z / std::numbers::sqrt2), 2e-15) << z;
    EXPECT_GE(normal_between(z, z + 0.002), 0) << z;
    EXPECT_NEAR(normal_between(z, z + 1e-6) / (1e-6 * normal_density(z + 5e-7)), 1, 1e-9) << z;
  }
  EXPECT_NEAR(normal_between(0.3, 0.3009), normal_below(0.3009) - normal_below(0.3), 2e-11);
}

TEST(Parzen, IntegratesToOne) {
  Parzen parzen({kReal, kCount, kChoice}, {{-1, 0, 2}, {0.5, 6, 0}, {0.6, kNone, 1}, {kNone, 3, kNone}});
  constexpr int kSlices = 2000;
  double sum = 0;
  for (int i = 0; i < kSlices; ++i) {
    for (double count = 0; count < 7; ++count) {
      for (double choice = 0; choice < 3; ++choice) {
        const std::vector<double> places = {-1 + 4 * (i + 0.5) / kSlices, count, choice};
        sum += std::exp(parzen.log_density(places)) * 4 / kSlices;
      }
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Parzen, IntegratesOverWhatIsNotThere) {
  Parzen parzen({kReal, kCount}, {{-1, 0}, {0.5, 6}, {2, 5}});
  double sum = 0;
  for (double count = 0; count < 7; ++count) sum += std::exp(parzen.log_density(std::vector{0.7, count}));
  EXPECT_NEAR(std::exp(parzen.log_density(std::vector{0.7, kNone})), sum, 1e-14);
  EXPECT_NEAR(parzen.log_density(std::vector{kNone, kNone}), 0, 1e-15);
}

/// With all computed by hand: one observation, at the end of the range.
TEST(Parzen, HasTheKernelsOfItsDefinition) {
  Parzen real({kReal}, {{-1}});
  const auto mass = [](double a, double b) {
    return (std::erf(b / std::numbers::sqrt2) - std::erf(a / std::numbers::sqrt2)) / 2;
  };
  // Its farther neighbor is the other end, so both kernels are as wide as the range, 4.
  const auto kernel = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) / 4; };
  EXPECT_NEAR(std::exp(real.log_density(std::vector{0.0})),
              0.5 * kernel(0.25) / mass(0, 1) + 0.5 * kernel(0.25) / mass(-0.5, 0.5), 1e-14);
  Parzen choice({kChoice}, {{2}});
  EXPECT_NEAR(std::exp(choice.log_density(std::vector{2.0})), 0.5 * (1.5 / 2.5) + 0.5 / 3, 1e-15);
  EXPECT_NEAR(std::exp(choice.log_density(std::vector{0.0})), 0.5 * (0.5 / 2.5) + 0.5 / 3, 1e-15);
}

TEST(Parzen, OldObservationsWeighLess) {
  std::vector<std::vector<double>> observations(100, {0.0});
  observations[0] = {2.0};
  EXPECT_LT(Parzen({kChoice}, observations).log_density(std::vector{2.0}), std::log(0.02));
  std::swap(observations[0], observations[99]);
  EXPECT_GT(Parzen({kChoice}, observations).log_density(std::vector{2.0}), std::log(0.02));
}

TEST(Parzen, SamplesFollowItsDensity) {
  Parzen parzen({kCount, kChoice, kReal}, {{0, 2, -1}, {6, 0, 0}, {5, kNone, 2.9}, {kNone, 2, kNone}});
  constexpr int kSamples = 40000;
  std::vector<int> counts(21, 0);
  int n_below_zero = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    RandomSequence random(1, 2, i);
    const std::vector<double> places = parzen.sample(random);
    ++counts[static_cast<std::size_t>(std::floor(places[0] + 0.5) * 3 + places[1])];
    ASSERT_GE(places[2], -1);
    ASSERT_LE(places[2], 3);
    n_below_zero += places[2] < 0 ? 1 : 0;
  }
  const auto expect_near = [](int count, double expected) { EXPECT_NEAR(count, expected, 4.5 * std::sqrt(expected)); };
  for (std::size_t i = 0; i < 21; ++i) {
    const std::vector<double> places = {static_cast<double>(i / 3), static_cast<double>(i % 3), kNone};
    expect_near(counts[i], kSamples * std::exp(parzen.log_density(places)));
  }
  double below_zero = 0;
  for (int i = 0; i < 1000; ++i)
    below_zero += std::exp(parzen.log_density(std::vector{kNone, kNone, -(i + 0.5) / 1000}));
  expect_near(n_below_zero, kSamples * below_zero / 1000);
}

}  // namespace
}  // namespace podere::tune
