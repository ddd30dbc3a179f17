#include "podere/linalg/svd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/linalg/column_facts.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kRows = 600;
constexpr Index kColumns = 64;
constexpr Index kRank = 5;

VectorXd values_by(double (*value)(double i)) {
  VectorXd s(kColumns);
  for (Index i = 0; i < kColumns; ++i) s[i] = value(static_cast<double>(i));
  return s;
}

/// By both methods: values, vectors, and what is reported of them.
void expect_singular_values(const VectorXd& s, double largest_error) {
  const TallMatrix a = tall(with_singular_values(kRows, s));
  const BoundedMap map = as_they_are(a);
  for (const SvdMethod method : {SvdMethod::kGram, SvdMethod::kKrylov}) {
    const Svd found = svd(a, map, {.rank = kRank, .method = method}, alone(), 2);
    EXPECT_EQ(found.method, method);
    EXPECT_TRUE(found.has_converged);
    for (Index i = 0; i < kRank; ++i) {
      const double most = i < found.n_resolved() ? 1e-10 : 1;
      EXPECT_LE(found.residuals[i], most) << i;
    }
    for (Index i = 0; i < kRank; ++i) EXPECT_NEAR(found.s[i], s[i], largest_error * s[0]) << i;
    const TallMatrix u = left_vectors(a, map, found, 2);
    EXPECT_LT(orthogonality(u, alone(), 2), 1e-9);
    EXPECT_LT((found.v.transpose() * found.v - MatrixXd::Identity(kRank, kRank)).cwiseAbs().maxCoeff(), 1e-13);
    const MatrixXd remainder = dense(a).transpose() * dense(u) - found.v * found.s.asDiagonal();
    const double scale = found.s[0] > 0 ? found.s[0] : 1;
    EXPECT_LT(remainder.cwiseAbs().maxCoeff() / scale, 1e-9);
  }
}

TEST(Svd, OfValuesThatFall) {
  expect_singular_values(values_by([](double i) { return 1 / (i + 1); }), 1e-13);
}
TEST(Svd, OfEqualValues) {
  expect_singular_values(values_by([](double) { return 2.0; }), 1e-13);
}
TEST(Svd, OfNearlyEqualValues) {
  expect_singular_values(values_by([](double i) { return 1 - 1e-6 * i; }), 1e-13);
}
TEST(Svd, OfLowRank) {
  expect_singular_values(values_by([](double i) { return i < 4 ? 1 / (i + 1) : 0; }), 1e-13);
}
TEST(Svd, OfNothingButZeros) {
  expect_singular_values(values_by([](double) { return 0.0; }), 0);
}
TEST(Svd, OfHugeValues) {
  expect_singular_values(values_by([](double i) { return 1e200 / (i + 1); }), 1e-13);
}
TEST(Svd, OfTinyValues) {
  expect_singular_values(values_by([](double i) { return 1e-200 / (i + 1); }), 1e-13);
}

/// Of values down to a millionth, whose squares are nearly lost in A^T A.
TEST(Svd, SmallValuesKeepTheirRelativeAccuracy) {
  const VectorXd s = values_by([](double i) { return std::pow(10.0, -i * 0.6); });
  const TallMatrix a = tall(with_singular_values(kRows, s));
  const Svd found = svd(a, as_they_are(a), {.rank = kRank}, alone(), 1);
  for (Index i = 0; i < kRank; ++i) EXPECT_NEAR(found.s[i] / s[i], 1, 1e-8) << i;
}

TEST(Svd, OfAsManyAsThereAre) {
  for (const Index n : {1, 2, 5, 40}) {
    VectorXd s(n);
    for (Index i = 0; i < n; ++i) s[i] = 2 - static_cast<double>(i) / 50;
    const MatrixXd values = with_singular_values(60, s);
    const TallMatrix a = tall(values);
    const Svd found = svd(a, as_they_are(a), {.rank = static_cast<std::size_t>(n)}, alone(), 1);
    EXPECT_LT((found.s - s).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Svd, OfFewerRowsThanColumns) {
  const MatrixXd values = dense(test_matrix(6, 30));
  const TallMatrix a = tall(values);
  const Svd found = svd(a, as_they_are(a), {.rank = 6}, alone(), 1);
  const VectorXd s = values.jacobiSvd().singularValues();
  EXPECT_LT((found.s - s).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Svd, SharesAreThoseOfAllSquares) {
  const TallMatrix a = test_matrix(700, 30);
  const MatrixXd values = dense(a);
  const VectorXd s = values.jacobiSvd().singularValues();
  for (const SvdMethod method : {SvdMethod::kGram, SvdMethod::kKrylov}) {
    const Svd found = svd(a, as_they_are(a), {.rank = 4, .method = method}, alone(), 2);
    for (Index i = 0; i < 4; ++i) EXPECT_NEAR(found.shares[i], s[i] * s[i] / values.squaredNorm(), 1e-13) << i;
  }
}

TEST(Svd, TakesMemoryByTheSquareOfTheColumnsWhereAllPairsAreMultiplied) {
  const SvdOptions gram{.rank = 20, .method = SvdMethod::kGram}, krylov{.rank = 20, .method = SvdMethod::kKrylov};
  EXPECT_EQ(svd_bytes(gram, 100'000, 2), 8e10 * 6);
  EXPECT_LT(svd_bytes(krylov, 100'000, 2), 1e9);
  EXPECT_EQ(chosen_method({.rank = 20}, 1000), SvdMethod::kGram);
  EXPECT_EQ(chosen_method({.rank = 20}, 1001), SvdMethod::kKrylov);
  EXPECT_EQ(chosen_method({.rank = 500}, 1001), SvdMethod::kGram);
}

/// The limit of passes ends it with what has been found, and says so.
TEST(Svd, EndsAtTheLimitOfPasses) {
  const TallMatrix a = test_matrix(1100, 150);
  int n_passes = 0;
  const Svd found = svd(a, as_they_are(a), {.rank = 20, .method = SvdMethod::kKrylov, .max_passes = 4}, alone(), 2,
                        [&](int n, double residual) {
                          EXPECT_EQ(n, ++n_passes);
                          EXPECT_GT(residual, 0);
                        });
  EXPECT_EQ(found.n_passes, 4);
  EXPECT_EQ(n_passes, 4);
  EXPECT_FALSE(found.has_converged);
}

TEST(ColumnFacts, NameTheFirstValueThatIsNotFinite) {
  TallMatrix a = test_matrix(3000, 4);
  a.row(2999)[0] = INFINITY;
  a.row(1234)[2] = NAN;
  try {
    ranges(a, {"a", "b", "c", "d"}, alone(), 3);
    FAIL() << "was accepted";
  } catch (const NotFinite& fault) {
    EXPECT_STREQ(fault.what(), "row 1234, column 'c': the value is missing or infinite");
    EXPECT_EQ(fault.row(), 1234U);
    EXPECT_EQ(fault.column(), 2U);
  }
}

TEST(ColumnFacts, MomentsAreThoseOfThePlainComputation) {
  TallMatrix a = test_matrix(3000, 6);
  for (std::size_t i = 0; i < a.n_rows(); ++i) {
    a.row(i)[1] = 0.1;                // constant, and no double
    a.row(i)[2] = 1e6 + a.row(i)[2];  // its mean far above what varies
    a.row(i)[3] *= 1e200;
    a.row(i)[4] = 0;
  }
  const Moments found = moments(a, ranges(a, {}, alone(), 2), Moments::Wanted::kAll, alone(), 2);
  const MatrixXd values = dense(a);
  for (const Index j : {0, 2, 3, 5}) {
    const double scale = j == 3 ? 1e200 : 1;
    const VectorXd column = values.col(j) / scale;
    const double mean = column.mean();
    const double deviation = std::sqrt((column.array() - mean).square().sum() / 2999);
    const auto place = static_cast<std::size_t>(j);
    EXPECT_NEAR(found.means[place] / scale, mean, 1e-13 * column.cwiseAbs().maxCoeff());
    EXPECT_NEAR(found.deviations[place] / scale / deviation, 1, 1e-9);
  }
  EXPECT_NEAR(found.means[1], 0.1, 1e-16);
  EXPECT_EQ(found.deviations[1], 0);
  EXPECT_EQ(found.means[4], 0);
  EXPECT_EQ(found.deviations[4], 0);
}

}  // namespace
}  // namespace podere::linalg
