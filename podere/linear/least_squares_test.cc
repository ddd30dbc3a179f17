// Least squares beside a solution by QR of all rows in float64.
#include "podere/linear/least_squares.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/linear/linear.h"
#include "podere/linear/linear_model.h"

namespace podere::linear {
namespace {

const comm::Communicator& alone() {
  static const auto group = comm::Communicator::self();
  return group;
}

struct Data {
  std::vector<std::vector<float>> columns;
  std::vector<float> label;
  std::vector<float> weight;

  Rows rows() const { return {{columns.begin(), columns.end()}, label, weight, label.size()}; }
};

/// y = 3 + sum_j (j - 1) x_j / scale_j + noise. Columns differ in scale, and lie far from zero.
Data made_up(std::size_t n_rows, std::size_t n_features, bool has_weights, double noise = 0.1) {
  Data data;
  const auto random = [](std::uint64_t stream, std::uint64_t i) { return 2 * uniform01(hash64(5, stream, i)) - 1; };
  for (std::size_t j = 0; j < n_features; ++j) {
    data.columns.emplace_back();
    const double scale = std::pow(10.0, static_cast<double>(j % 5) - 2);
    for (std::size_t i = 0; i < n_rows; ++i) {
      data.columns.back().push_back(static_cast<float>(scale * (random(j, i) + 3)));
    }
  }
  for (std::size_t i = 0; i < n_rows; ++i) {
    double y = 3 + noise * random(100, i);
    for (std::size_t j = 0; j < n_features; ++j) {
      y += (static_cast<double>(j) - 1) * double{data.columns[j][i]} / std::pow(10.0, static_cast<double>(j % 5) - 2);
    }
    data.label.push_back(static_cast<float>(y));
    if (has_weights) data.weight.push_back(static_cast<float>(i % 4));
  }
  return data;
}

/// Coefficients and the intercept, by QR of the rows and sqrt(l2) times the identity.
Eigen::VectorXd by_qr(const Data& data, double l2) {
  const auto m = static_cast<Eigen::Index>(data.label.size());
  const auto n = static_cast<Eigen::Index>(data.columns.size());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(m + n, n + 1);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(m + n);
  for (Eigen::Index i = 0; i < m; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double root = data.weight.empty() ? 1 : std::sqrt(double{data.weight[row]});
    for (Eigen::Index j = 0; j < n; ++j) a(i, j) = root * double{data.columns[static_cast<std::size_t>(j)][row]};
    a(i, n) = root;
    b[i] = root * double{data.label[row]};
  }
  for (Eigen::Index j = 0; j < n; ++j) a(m + j, j) = std::sqrt(l2);
  return a.colPivHouseholderQr().solve(b);
}

TEST(LeastSquaresTest, IsTheMinimumThatQrFinds) {
  for (const bool has_weights : {false, true}) {
    for (const double l2 : {0.0, 3.5}) {
      const Data data = made_up(1500, 7, has_weights);
      const LeastSquares found = solve_least_squares(data.rows(), {l2, false}, alone(), 2);
      const Eigen::VectorXd right = by_qr(data, l2);
      for (std::size_t j = 0; j < 7; ++j) {
        const double expected = right[static_cast<Eigen::Index>(j)];
        EXPECT_NEAR(found.coefficients[j], expected, 1e-9 * std::max(1.0, std::abs(expected))) << j;
      }
      EXPECT_NEAR(found.intercept, right[7], 1e-8);
      EXPECT_EQ(found.rank, 7);
      EXPECT_LT(found.largest_cosine, 1e-13);
      EXPECT_GT(found.variance, found.squared_error);
    }
  }
}

TEST(LeastSquaresTest, FeaturesThatAreNearlyEqualKeepTheirDigits) {
  Data data = made_up(3000, 2, false, 0.0);
  for (std::size_t i = 0; i < data.label.size(); ++i) {  // float32 holds the difference of 2^-12 exactly
    const auto tiny = static_cast<float>(std::ldexp(static_cast<double>(i % 7) - 3, -16));
    data.columns[0][i] = static_cast<float>(i % 16) / 16;
    data.columns[1][i] = data.columns[0][i] + tiny;
    data.label[i] = 2 * data.columns[0][i] - data.columns[1][i];
  }
  const LeastSquares found = solve_least_squares(data.rows(), {}, alone(), 1);
  EXPECT_EQ(found.rank, 2);
  EXPECT_NEAR(found.coefficients[0], 2, 1e-5);
  EXPECT_NEAR(found.coefficients[1], -1, 1e-5);
}

TEST(LeastSquaresTest, WhereThereIsNoRankCoefficientsAreSmall) {
  Data data = made_up(500, 3, false);
  data.columns.push_back(data.columns[1]);             // twice the same
  data.columns.emplace_back(data.label.size(), 7.0F);  // a constant
  const LeastSquares found = solve_least_squares(data.rows(), {}, alone(), 1);
  EXPECT_EQ(found.rank, 3);
  EXPECT_NEAR(found.coefficients[1], found.coefficients[3], 1e-9 * std::abs(found.coefficients[1]) + 1e-9);
  EXPECT_EQ(found.coefficients[4], 0);
  EXPECT_LT(found.largest_cosine, 1e-10);
}

TEST(LeastSquaresTest, StandardizedPenaltiesDoNotDependOnUnits) {
  Data data = made_up(800, 4, false);
  const LeastSquares before = solve_least_squares(data.rows(), {100, true}, alone(), 1);
  for (float& x : data.columns[2]) x *= 1024;
  const LeastSquares after = solve_least_squares(data.rows(), {100, true}, alone(), 1);
  EXPECT_NEAR(after.coefficients[2] * 1024, before.coefficients[2], 1e-9 * std::abs(before.coefficients[2]));
  EXPECT_NEAR(after.squared_error, before.squared_error, 1e-12 * before.squared_error);
  EXPECT_LT(std::abs(before.coefficients[2]),
            1024 * std::abs(solve_least_squares(data.rows(), {}, alone(), 1).coefficients[2]));
}

TEST(LeastSquaresTest, RowsOfWeight0MayHoldAnything) {
  Data data = made_up(900, 4, false);
  for (std::size_t i = 0; i < data.label.size(); ++i) data.weight.push_back(i % 10 < 3 ? 0 : 1);
  const LeastSquares clean = solve_least_squares(data.rows(), {}, alone(), 1);
  data.columns.emplace_back();
  for (std::size_t i = 0; i < data.label.size(); ++i) {
    const bool counts = data.weight[i] > 0;
    data.columns[4].push_back(counts ? 0 : 1);  // a constant of the rows that count
    if (!counts) data.columns[1][i] = data.label[i] = 1e30F;
  }
  const LeastSquares found = solve_least_squares(data.rows(), {}, alone(), 1);
  EXPECT_EQ(found.rank, 4);
  EXPECT_EQ(found.coefficients[4], 0);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(found.coefficients[j], clean.coefficients[j], 1e-6);
}

TEST(LeastSquaresTest, AFeatureInSmallUnitsLeavesTheOthersAlone) {
  Data data = made_up(1000, 2, false);
  for (float& x : data.columns[0]) x *= 1e-10F;
  const LeastSquares found = solve_least_squares(data.rows(), {1, false}, alone(), 1);
  const Eigen::VectorXd right = by_qr(data, 1);
  EXPECT_EQ(found.rank, 2);
  EXPECT_NEAR(found.coefficients[1], right[1], 1e-8 * std::abs(right[1]) + 1e-8);
  const LeastSquares flat = solve_least_squares(data.rows(), {1e308, false}, alone(), 1);
  for (const double coefficient : flat.coefficients) EXPECT_NEAR(coefficient, 0, 1e-200);
}

TEST(LinearModelTest, FilesThatAreNotWholeAreRefused) {
  const LinearModel model({.features = {"a", "b"}}, {1.5, -2}, 0.25);
  EXPECT_EQ(LinearModel::from_text(model.to_text(), "m")->to_text(), model.to_text());
  for (const auto& coefficients : {std::vector<double>{1}, {1, 2, 3}, {1, NAN}}) {
    const std::string text = LinearModel({.features = {"a", "b"}}, coefficients, 0).to_text();
    EXPECT_THROW(LinearModel::from_text(text, "m"), InputError);
  }
  EXPECT_THROW(LinearModel::from_text(model.to_text().substr(0, 60), "m"), InputError);
}

}  // namespace
}  // namespace podere::linear
