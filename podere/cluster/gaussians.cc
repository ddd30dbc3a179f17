#include "podere/cluster/gaussians.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/portable_math.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::cluster {
namespace {

constexpr double kLog2Pi = 1.8378770664093454836;

/// F with F F^T the inverse of a covariance: the transpose of the inverse of its Cholesky factor.
Eigen::MatrixXd inverse_factor(const Eigen::MatrixXd& covariance) {
  const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
  if (cholesky.info() != Eigen::Success) {
    throw InputError("the covariance of a cluster is singular: choose a larger --regularization, or fewer clusters");
  }
  const auto n = covariance.rows();
  return cholesky.matrixL().solve(Eigen::MatrixXd::Identity(n, n)).transpose();
}

HugeArray<double> packed_matrix(const Eigen::MatrixXd& f, std::size_t n_columns) {
  const auto n = static_cast<std::size_t>(f.rows());
  std::vector<double> rows(n * n_columns, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      rows[i * n_columns + j] = f(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
  }
  HugeArray<double> packed(linalg::packed_size(n, n_columns));
  const auto as_they_are = linalg::ColumnMap::identity(n_columns);
  linalg::pack(rows, as_they_are.shift, as_they_are.factor, packed.data());
  return packed;
}

}  // namespace

std::size_t Gaussians::n_free() const {
  const std::size_t n = size();
  const std::size_t d = n_features();
  const std::size_t of_matrix = d * (d + 1) / 2;
  const std::size_t of_covariances = kind == Covariance::kFull       ? n * of_matrix
                                     : kind == Covariance::kTied     ? of_matrix
                                     : kind == Covariance::kDiagonal ? n * d
                                                                     : n;
  return n - 1 + n * d + of_covariances;
}

LogDensities::LogDensities(const Gaussians& gaussians)
    : has_matrices_(has_matrices(gaussians.kind)),
      n_features_(gaussians.n_features()),
      n_columns_((n_features_ + linalg::kResultColumns - 1) / linalg::kResultColumns * linalg::kResultColumns) {
  Eigen::MatrixXd f;
  for (std::size_t k = 0; k < gaussians.size(); ++k) {
    Factored one{.mean = gaussians.means[k]};
    double log_determinant = 0;  // of F
    if (has_matrices_) {
      if (k == 0 || gaussians.kind == Covariance::kFull) f = inverse_factor(gaussians.covariances[k]);
      for (Eigen::Index j = 0; j < f.rows(); ++j) log_determinant += portable_log(f(j, j));
      one.packed = packed_matrix(f, n_columns_);
      for (std::size_t j = 0; j < n_features_; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i <= j; ++i) {
          sum += one.mean[static_cast<Eigen::Index>(i)] * f(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        }
        one.offset.push_back(sum);
      }
    } else {
      one.inverse_deviations = gaussians.covariances[k].col(0).cwiseSqrt().cwiseInverse();
      for (const double inverse : one.inverse_deviations) log_determinant += portable_log(inverse);
    }
    one.constant =
        portable_log(gaussians.weights[k]) - static_cast<double>(n_features_) * kLog2Pi / 2 + log_determinant;
    factored_.push_back(std::move(one));
  }
}

LogDensities::Workspace::Workspace(const LogDensities& densities)
    : packed_(densities.has_matrices_ ? linalg::packed_size(kDensityRows, densities.n_features_) : 0),
      products_(densities.has_matrices_ ? kDensityRows * densities.n_columns_ : 0) {}

void LogDensities::compute(std::span<const double> rows, Workspace& workspace, std::span<double> result) const {
  const std::size_t n_rows = rows.size() / n_features_;
  if (has_matrices_) {
    const auto as_they_are = linalg::ColumnMap::identity(n_features_);
    linalg::pack(rows, as_they_are.shift, as_they_are.factor, workspace.packed_.data());
    for (std::size_t k = 0; k < factored_.size(); ++k) compute_with_matrix(factored_[k], n_rows, workspace, k, result);
    return;
  }
  for (std::size_t i = 0; i < n_rows; ++i) {
    for (std::size_t k = 0; k < factored_.size(); ++k) {
      const Factored& one = factored_[k];
      double sum = 0;
      for (std::size_t j = 0; j < n_features_; ++j) {
        const auto place = static_cast<Eigen::Index>(j);
        const double away = (rows[i * n_features_ + j] - one.mean[place]) * one.inverse_deviations[place];
        sum += away * away;
      }
      result[i * factored_.size() + k] = one.constant - sum / 2;
    }
  }
}

void LogDensities::compute_with_matrix(const Factored& one, std::size_t n_rows, Workspace& workspace, std::size_t k,
                                       std::span<double> result) const {
  double* const products = workspace.products_.data();
  linalg::multiply_packed(workspace.packed_.data(), n_rows, n_features_, one.packed.data(), n_columns_, products);
  for (std::size_t i = 0; i < n_rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n_features_; ++j) {
      const double away = products[i * n_columns_ + j] - one.offset[j];
      sum += away * away;
    }
    result[i * factored_.size() + k] = one.constant - sum / 2;
  }
}

}  // namespace podere::cluster
