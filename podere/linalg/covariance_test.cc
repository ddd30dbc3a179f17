#include "podere/linalg/covariance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/linalg/test_matrices.h"

namespace podere::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

const std::vector<std::string> kNames = {"a", "b", "c", "d", "e"};

MatrixXd plain_covariance(const MatrixXd& values) {
  const MatrixXd centered = values.rowwise() - values.colwise().mean();
  return centered.transpose() * centered / static_cast<double>(values.rows() - 1);
}

MatrixXd plain_correlation(const MatrixXd& values) {
  const MatrixXd covariance = plain_covariance(values);
  const Eigen::VectorXd deviations = covariance.diagonal().cwiseSqrt();
  return deviations.cwiseInverse().asDiagonal() * covariance * deviations.cwiseInverse().asDiagonal();
}

MatrixXd test_values() { return dense(test_matrix(3000, 5)); }

TEST(Covariance, IsThatOfThePlainComputation) {
  const MatrixXd values = test_values();
  Covariance found = covariance(tall(values), kNames, alone(), 2);
  const MatrixXd expected = plain_covariance(values);
  EXPECT_LT((found.correlations - plain_correlation(values)).cwiseAbs().maxCoeff(), 1e-13);
  for (std::size_t j = 0; j < kNames.size(); ++j) {
    const auto place = static_cast<Index>(j);
    EXPECT_NEAR(found.means[j], values.col(place).mean(), 1e-15);
    EXPECT_NEAR(found.deviations[j], std::sqrt(expected(place, place)), 1e-14);
    EXPECT_EQ(found.correlations(place, place), 1);
  }
  const MatrixXd covariances = std::move(found).into_covariances(kNames);
  EXPECT_LT((covariances - expected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_EQ(covariances, covariances.transpose());
}

/// Of values that are exact multiples of 2^-20 beside 1e8, up to 2^-10: less than a billionth of it.
TEST(Covariance, KeepsItsDigitsWhereMeansAreFarAboveWhatVaries) {
  const MatrixXd noise = (test_values() * std::ldexp(1, 10)).array().round() * std::ldexp(1, -20);
  const Covariance found = covariance(tall(noise.array() + 1e8), kNames, alone(), 3);
  EXPECT_LT((found.correlations - plain_correlation(noise)).cwiseAbs().maxCoeff(), 1e-12);
  const MatrixXd expected = plain_covariance(noise);
  for (Index j = 0; j < 5; ++j) {
    EXPECT_NEAR(found.deviations[static_cast<std::size_t>(j)] / std::sqrt(expected(j, j)), 1, 1e-12);
  }
}

TEST(Covariance, ColumnsOfOtherUnitsCostNoDigits) {
  MatrixXd values = test_values();
  const MatrixXd expected = plain_correlation(values);
  values.col(1) *= 1e200;
  values.col(2) *= 1e-200;
  Covariance found = covariance(tall(values), kNames, alone(), 1);
  EXPECT_LT((found.correlations - expected).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR(found.deviations[2] / std::sqrt(plain_covariance(test_values())(2, 2)), 1e-200, 1e-212);
  try {
    std::move(found).into_covariances(kNames);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("column 'b' has a standard deviation of "), 0U) << error.what();
  }
}

TEST(Covariance, OfConstantColumnsIsZeroAndTheirCorrelationIsNone) {
  MatrixXd values = test_values();
  values.col(1).setConstant(0.1);  // is no double
  values.col(3).setZero();
  values.col(4).setConstant(1);
  values(2999, 4) += 1e-15;  // varies, by its last digits
  Covariance found = covariance(tall(values), kNames, alone(), 2);
  EXPECT_EQ(found.means[1], 0.1);
  for (const Index j : {1, 3}) {
    EXPECT_EQ(found.deviations[static_cast<std::size_t>(j)], 0);
    for (Index i = 0; i < 5; ++i)
      EXPECT_TRUE(std::isnan(found.correlations(i, j)) && std::isnan(found.correlations(j, i)));
  }
  EXPECT_NEAR(found.deviations[4], (values(2999, 4) - 1) / std::sqrt(3000), 1e-28);
  EXPECT_LE(std::fabs(found.correlations(0, 4)), 1);
  const MatrixXd covariances = std::move(found).into_covariances(kNames);
  EXPECT_EQ(covariances.col(1), MatrixXd::Zero(5, 1));
  EXPECT_EQ(covariances.row(3), MatrixXd::Zero(1, 5));
}

TEST(Covariance, OfTwoRowsAndNotOfOne) {
  const MatrixXd values = test_values().topRows(2);
  const Covariance found = covariance(tall(values), kNames, alone(), 2);
  for (Index j = 0; j < 5; ++j) EXPECT_NEAR(std::fabs(found.correlations(0, j)), 1, 1e-15);
  try {
    covariance(tall(values.topRows(1)), kNames, alone(), 1);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "has 1 row, covariances are of 2 or more: one does not vary");
  }
}

TEST(StrongestPairs, ComeByMagnitudeAndOfEqualsTheFirst) {
  MatrixXd correlations = MatrixXd::Identity(4, 4);
  const auto set = [&](Index i, Index j, double value) { correlations(i, j) = correlations(j, i) = value; };
  set(0, 1, 0.5);
  set(0, 2, -0.9);
  set(0, 3, NAN);
  set(1, 2, -0.5);
  set(1, 3, 0.1);
  set(2, 3, 0.9);
  const auto pairs = strongest_pairs(correlations, 3);
  ASSERT_EQ(pairs.size(), 3U);
  const std::vector<std::array<double, 3>> expected = {{0, 2, -0.9}, {2, 3, 0.9}, {0, 1, 0.5}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(static_cast<double>(pairs[i].first), expected[i][0]);
    EXPECT_EQ(static_cast<double>(pairs[i].second), expected[i][1]);
    EXPECT_EQ(pairs[i].correlation, expected[i][2]);
  }
  EXPECT_EQ(strongest_pairs(correlations, 100).size(), 5U);
}

}  // namespace
}  // namespace podere::linalg
