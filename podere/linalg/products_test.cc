#include "podere/linalg/products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hwy/targets.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

using Eigen::MatrixXd;

/// In a map with shifts and factors, beside the plain computation: for widths around those of vectors and panels.
TEST(Products, AreThoseOfThePlainComputation) {
  for (const std::size_t n : {1UL, 2UL, 7UL, 8UL, 9UL, 24UL, 25UL, 49UL, 100UL}) {
    for (const std::uint64_t m : {1ULL, 255ULL, 256ULL, 257ULL, 700ULL}) {
      const TallMatrix a = test_matrix(m, n);
      ColumnMap map = ColumnMap::identity(n);
      for (std::size_t j = 0; j < n; ++j) {
        map.shift[j] = 0.01 * static_cast<double>(j % 5);
        map.factor[j] = 0.25 / static_cast<double>(j % 3 + 1);
      }
      MatrixXd plain = dense(a);
      for (std::size_t j = 0; j < n; ++j) {
        const auto column = static_cast<Eigen::Index>(j);
        plain.col(column) = (plain.col(column).array() - map.shift[j]) * map.factor[j];
      }
      const double close = 1e-13 * (1 + plain.squaredNorm());
      EXPECT_LT((gram(a, map, alone(), 2) - plain.transpose() * plain).cwiseAbs().maxCoeff(), close);
      for (const Eigen::Index l : {1, 8, 20, 33}) {
        MatrixXd x = MatrixXd::Constant(static_cast<Eigen::Index>(n), l, 1 / std::sqrt(static_cast<double>(n)));
        for (Eigen::Index j = 0; j < l; ++j) x(j % x.rows(), j) *= -0.5;
        const MatrixXd y = plain * x;
        const Products both = products(a, map, x, alone(), 2);
        EXPECT_LT((both.xaax - y.transpose() * y).cwiseAbs().maxCoeff(), close) << m << " x " << n << ", " << l;
        EXPECT_LT((both.aax - plain.transpose() * y).cwiseAbs().maxCoeff(), close) << m << " x " << n << ", " << l;
        EXPECT_LT((dense(multiply(a, map, x, 2)) - y).cwiseAbs().maxCoeff(), close) << m << " x " << n << ", " << l;
      }
    }
  }
}

/// With the kernels of each kind of machine with fused multiply-add that this one can be.
TEST(Products, AreTheSameBitsOnAllMachines) {
  const TallMatrix a = test_matrix(1500, 75);
  const ColumnMap map = as_they_are(a).map;
  const MatrixXd x = MatrixXd::Constant(75, 20, 0.1);
  const auto compute = [&] {
    const Products both = products(a, map, x, alone(), 2);
    return std::vector<MatrixXd>{gram(a, map, alone(), 2), both.xaax, both.aax,
                                 column_sums(a, map, Power::kSecond, alone(), 2), dense(multiply(a, map, x, 2))};
  };
  const std::vector<MatrixXd> expected = compute();
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_NEON}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_TRUE(compute() == expected) << hwy::TargetName(target);
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Products, OfNoRowsAreZero) {
  const TallMatrix a(0, 3, {0, 0});
  EXPECT_EQ(gram(a, ColumnMap::identity(3), alone(), 2), MatrixXd::Zero(3, 3));
}

/// What is split and added in any order is what is added in another, and loses no more than it says.
TEST(Splitters, SumsDoNotDependOnOrder) {
  constexpr std::size_t kNumbers = 5000;
  std::vector<double> numbers;
  double bound = 0;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    numbers.push_back(std::ldexp(uniform01(hash64(5, 0, i)) - 0.5, static_cast<int>(i % 40) - 20));
    bound += std::fabs(numbers.back());
  }
  const Splitters splitters = splitters_for(bound, kNumbers);
  const auto sum = [&](auto&& number) {
    double high = 0;
    double low = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      const double value = numbers[number(i)];
      const double coarse = (value + splitters.high) - splitters.high;
      high += coarse;
      low += ((value - coarse) + splitters.low) - splitters.low;
    }
    return std::pair(high, low);
  };
  const auto forward = sum([](std::size_t i) { return i; });
  EXPECT_EQ(forward, sum([](std::size_t i) { return kNumbers - 1 - i; }));
  EXPECT_EQ(forward, sum([](std::size_t i) { return i * 1237 % kNumbers; }));
  long double exact = 0;
  for (const double number : numbers) exact += number;
  EXPECT_LT(std::fabs(static_cast<double>(exact - forward.first - forward.second)), 1e-16 * bound);
}

}  // namespace
}  // namespace podere::linalg
