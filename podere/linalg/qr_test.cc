#include "podere/linalg/qr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/linalg/svd.h"
#include "podere/linalg/test_matrices.h"
#include "podere/linalg/triangular_solve.h"

namespace podere::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<std::string> letters(Index n) {
  std::vector<std::string> names;
  for (Index j = 0; j < n; ++j) names.emplace_back(1, static_cast<char>('a' + j));
  return names;
}

MatrixXd plain_r(const MatrixXd& values) {
  MatrixXd r = Eigen::HouseholderQR<MatrixXd>(values).matrixQR().topRows(values.cols()).triangularView<Eigen::Upper>();
  for (Index j = 0; j < r.rows(); ++j) {
    if (r(j, j) < 0) r.row(j) *= -1;
  }
  return r;
}

/// All that makes A = Q R, whatever the condition of A.
Qr expect_qr(const MatrixXd& values) {
  TallMatrix a = tall(values);
  const auto names = std::vector<std::string>(static_cast<std::size_t>(values.cols()), "a");
  Qr found = qr(a, names, WantedQ::kInPlace, alone(), 2);
  EXPECT_LT(orthogonality(a, alone(), 1), 3e-15);
  EXPECT_LT(std::ranges::max(found.residuals), 1e-14);
  EXPECT_TRUE(found.r.isUpperTriangular(0));
  EXPECT_GT(found.r.diagonal().minCoeff(), 0);
  const VectorXd sizes = values.colwise().lpNorm<Eigen::Infinity>().cwiseInverse();
  EXPECT_LT(((dense(a) * found.r - values) * sizes.asDiagonal()).cwiseAbs().maxCoeff(), 1e-14);
  TallMatrix again = tall(values);
  EXPECT_EQ(qr(again, names, WantedQ::kNone, alone(), 1).r, found.r);
  EXPECT_EQ(dense(again), values);
  return found;
}

TEST(Qr, IsThatOfEigenForAnyNumberOfColumns) {
  for (const Index n : {1, 2, 3, 5, 6, 7, 10, 11, 64, 100}) {
    const MatrixXd values = dense(test_matrix(700, static_cast<std::size_t>(n)));
    const Qr found = expect_qr(values);
    EXPECT_EQ(found.n_shifted, 0);
    EXPECT_EQ(found.n_passes, n == 1 ? 1 : 2);
    EXPECT_LT((found.r - plain_r(values)).cwiseAbs().maxCoeff(), 1e-10) << n;
  }
}

TEST(Qr, OfAsManyRowsAsColumns) {
  for (const Index n : {1, 4, 20})
    expect_qr(dense(test_matrix(static_cast<std::uint64_t>(n), static_cast<std::size_t>(n))));
}

TEST(Qr, OfNearlyDependentColumns) {
  VectorXd s(20);
  for (const double least : {1e-3, 1e-6, 1e-8, 1e-10, 1e-12}) {
    for (Index j = 0; j < s.size(); ++j) s[j] = std::pow(least, static_cast<double>(j) / 19);
    const MatrixXd values = with_singular_values(600, s);
    const Qr found = expect_qr(values);
    EXPECT_EQ(found.n_shifted > 0, least < 1e-7) << least;
    EXPECT_EQ(found.n_passes, 2 + found.n_shifted);
    EXPECT_LT((found.r - plain_r(values)).cwiseAbs().maxCoeff(), 1e-14 / least);
  }
}

/// Powers of numbers from 0 to 1: of a condition of 1e12.
TEST(Qr, OfAVandermondeMatrix) {
  MatrixXd values(5000, 17);
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j)
      values(i, j) = std::pow(static_cast<double>(i) / 4999, static_cast<double>(j));
  }
  const VectorXd s = values.jacobiSvd().singularValues();
  EXPECT_GT(s[0] / s[16], 1e11);
  EXPECT_GT(expect_qr(values).n_shifted, 0);
}

TEST(Qr, UnitsOfColumnsDoNotMatter) {
  MatrixXd values = dense(test_matrix(900, 6));
  const Qr expected = expect_qr(values);
  VectorXd units(6);
  units << 1, std::ldexp(1, 900), std::ldexp(1, -900), 1, std::ldexp(1, 660), std::ldexp(1, 3);
  values *= units.asDiagonal();
  EXPECT_EQ(expect_qr(values).r, expected.r * units.asDiagonal());
}

std::string refusal_of_qr(const MatrixXd& values) {
  TallMatrix a = tall(values);
  try {
    qr(a, letters(values.cols()), WantedQ::kInPlace, alone(), 2);
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Qr, RefusesColumnsThatDependOnThoseBefore) {
  MatrixXd values = dense(test_matrix(2000, 12));
  values.col(5) = values.col(0) + 3 * values.col(2) - values.col(4);
  EXPECT_EQ(
      refusal_of_qr(values),
      "1 column is a combination of those before it, but for rounding, so Q has no direction for it: 'f'; leave it "
      "out with --drop");
  values.col(1).setZero();
  values.col(7) = values.col(3);
  values.col(11) = 1e100 * (values.col(7) + values.col(8) / 3);
  EXPECT_EQ(
      refusal_of_qr(values),
      "4 columns are combinations of those before them, but for rounding, so Q has no direction for them: 'b', 'f', "
      "'h', 'l'; leave them out with --drop");
  EXPECT_NE(refusal_of_qr(MatrixXd::Ones(50, 26)).find("25 columns are combinations"), std::string::npos);
  EXPECT_NE(refusal_of_qr(MatrixXd::Zero(50, 1)).find("'a'"), std::string::npos);
}

TEST(Qr, RefusesFewerRowsThanColumns) {
  EXPECT_EQ(refusal_of_qr(dense(test_matrix(1, 2))),
            "has 1 row and 2 columns, allowed are at least as many rows as columns");
}

TEST(SolveRows, GivesWhatSubstitutionGives) {
  for (const Index n : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 40}) {
    MatrixXd r =
        dense(test_matrix(static_cast<std::uint64_t>(n), static_cast<std::size_t>(n))).triangularView<Eigen::Upper>();
    r.diagonal().array() += 2;
    TallMatrix rows = test_matrix(77, static_cast<std::size_t>(n));
    solve_rows(UpperTriangle(r), rows.values());
    const TallMatrix before = test_matrix(77, static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < rows.n_rows(); ++i) {
      for (Index j = 0; j < n; ++j) {
        double expected = before.row(i)[static_cast<std::size_t>(j)];
        for (Index k = 0; k < j; ++k) expected = std::fma(-rows.row(i)[static_cast<std::size_t>(k)], r(k, j), expected);
        EXPECT_EQ(rows.row(i)[static_cast<std::size_t>(j)], expected / r(j, j)) << n << " " << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace podere::linalg
