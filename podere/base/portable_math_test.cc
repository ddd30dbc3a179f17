#include "podere/base/portable_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "podere/base/hash.h"
#include "podere/base/test_numbers.h"

namespace podere {
namespace {

constexpr int kPoints = 2000000;

/// Distance from `value` to `reference` in units of the last place of the latter.
double ulps(double value, long double reference) {
  const int exponent = std::max(std::ilogb(reference), -1022);
  return static_cast<double>(std::fabs(std::ldexp(static_cast<long double>(value) - reference, 52 - exponent)));
}

double uniform(std::uint64_t i, double low, double high) { return low + (high - low) * uniform01(hash64(1, 2, i)); }

double largest_error(const std::function<double(double)>& function,
                     const std::function<long double(long double)>& reference, double low, double high) {
  double largest = 0;
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    const double x = uniform(i, low, high);
    largest = std::max(largest, ulps(function(x), reference(x)));
  }
  return largest;
}

long double exp_reference(long double x) { return std::exp(x); }
long double log_reference(long double x) { return std::log(x); }
long double sigmoid_reference(long double x) { return 1 / (1 + std::exp(-x)); }

TEST(PortableMath, ExpIsWithinOneUlp) {
  EXPECT_LT(largest_error(portable_exp, exp_reference, -1, 1), 1.0);
  EXPECT_LT(largest_error(portable_exp, exp_reference, -745, 709.7), 1.0);
}

TEST(PortableMath, ExpIsRightAtItsEdges) {
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_exp(-0.0), 1.0);
  EXPECT_EQ(portable_exp(0x1p-60), 1.0);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(portable_exp(kNaN)));
  for (const double x : {1.0, 709.782712893384, -708.4, -745.13}) {
    EXPECT_LT(ulps(portable_exp(x), exp_reference(x)), 1.0) << x;
  }
  EXPECT_EQ(portable_exp(709.79), kInfinity);
  EXPECT_EQ(portable_exp(1e300), kInfinity);
  EXPECT_EQ(portable_exp(-745.1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(portable_exp(-745.2), 0.0);
  EXPECT_EQ(portable_exp(-1e300), 0.0);
}

TEST(PortableMath, LogIsWithinOneUlp) {
  EXPECT_LT(largest_error(portable_log, log_reference, 0.25, 4), 1.0);
  EXPECT_LT(largest_error(portable_log, log_reference, 0.99, 1.01), 1.0);
  EXPECT_LT(largest_error(portable_log, log_reference, 0, 1e-15), 1.0);
  double largest = 0;
  for (std::uint64_t i = 0; i < kPoints; ++i) {  // any positive double
    const auto x = std::bit_cast<double>(hash64(5, 6, i) % 0x7ff0000000000000ULL);
    if (x > 0) largest = std::max(largest, ulps(portable_log(x), std::log(static_cast<long double>(x))));
  }
  EXPECT_LT(largest, 1.0);
}

TEST(PortableMath, LogIsRightAtItsEdges) {
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_EQ(portable_log(0.0), -kInfinity);
  EXPECT_EQ(portable_log(-0.0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1.0)));
  EXPECT_TRUE(std::isnan(portable_log(-kInfinity)));
  EXPECT_TRUE(std::isnan(portable_log(kNaN)));
  for (const double x : {std::numeric_limits<double>::denorm_min(), 0x1.fffffffffffffp-1023, 0x1p-1022,
                         0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1, 0x1.fffffffffffffp-1, 0x1.0000000000001p+0,
                         0x1.6a09e667f3bcdp+0, std::numeric_limits<double>::max()}) {
    EXPECT_LT(ulps(portable_log(x), std::log(static_cast<long double>(x))), 1.0) << x;
  }
}

long double cosine_reference(long double t) {
  return std::cos(2 * std::numbers::pi_v<long double> * (t - std::round(t)));
}

TEST(PortableMath, CosineIsRightToTheLastDigits) {
  for (const double turns : {0.5, 20.0, 1e6}) {
    double largest = 0;
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      const double t = uniform(i, -turns, turns);
      const double found = cosine_of_turns(t);
      EXPECT_LE(std::abs(found), 1);
      largest = std::max(largest, std::abs(static_cast<double>(found - cosine_reference(t))));
    }
    EXPECT_LT(largest, 5e-16) << turns;
  }
}

TEST(PortableMath, CosineIsRightAtItsEdges) {
  for (const double t : {0.0, -3.0, 12345.0}) EXPECT_NEAR(cosine_of_turns(t), 1, 2e-16);
  EXPECT_NEAR(cosine_of_turns(0.5), -1, 2e-16);
  EXPECT_EQ(cosine_of_turns(0.25), 0.0);
  EXPECT_EQ(cosine_of_turns(-1e6 - 0.75), 0.0);
  for (const double t : {0x1p51, -0x1p52 - 1, 1e193, -1e308}) EXPECT_LE(std::abs(cosine_of_turns(t)), 1) << t;
}

TEST(PortableMath, SigmoidIsWithinTwoUlpAndNeverOverflows) {
  EXPECT_LT(largest_error(sigmoid, sigmoid_reference, -4, 4), 2.0);
  EXPECT_LT(largest_error(sigmoid, sigmoid_reference, -745, 745), 2.0);
  EXPECT_EQ(sigmoid(0.0), 0.5);
  EXPECT_EQ(sigmoid(kInfinity), 1.0);
  EXPECT_EQ(sigmoid(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(sigmoid(kNaN)));
}

// What the first machine found, in a loop that the compiler may vectorize: all others must find the same.
TEST(PortableMath, GivesTheSameBitsOnEveryMachine) {
  std::vector<double> x(100003), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = uniform(i, -750, 720);
  const auto digest = [&] {
    std::uint64_t hash = 0;
    for (const double value : y) hash = mix64(hash ^ std::bit_cast<std::uint64_t>(value));
    return hash;
  };
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = portable_exp(x[i]);
  EXPECT_EQ(digest(), 0x8e625db816131a76ULL);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = sigmoid(x[i] * 0.01);
  EXPECT_EQ(digest(), 0xcbb5a69ea970b3f8ULL);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = cosine_of_turns(x[i]);
  EXPECT_EQ(digest(), 0x68fc1f3ac5bae1d1ULL);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<double>(hash64(5, 6, i) % 0x7ff0000000000000ULL);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = portable_log(x[i]);
  EXPECT_EQ(digest(), 0x96a17074556b40d0ULL);
}

}  // namespace
}  // namespace podere
