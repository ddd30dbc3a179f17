#include "podere/linear/least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace podere::linear {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The normal equations of scaled features, without the intercept, each divided by the norm of its centered feature,
/// the penalty included: as if rows with its roots were added.
class NormalEquations {
 public:
  NormalEquations(const MatrixXd& gram, const Scales& scales, const Penalty& penalty)
      : n_(gram.rows() - 2), weight_(gram(n_, n_)), sums_(gram.col(n_).head(n_)) {
    MatrixXd centered = gram.topLeftCorner(n_, n_) - sums_ * sums_.transpose() / weight_;
    const double rounding = std::numeric_limits<double>::epsilon() * weight_;
    inverse_norm_ = VectorXd::Zero(n_);
    penalty_ = VectorXd::Zero(n_);
    for (Index j = 0; j < n_; ++j) {
      if (centered(j, j) <= rounding) continue;  // a constant
      const double unit = penalty.standardizes ? std::sqrt(centered(j, j) / weight_) : scales.factor[j];
      penalty_[j] = std::min(penalty.l2 / scales.largest_weight * unit * unit, kLargestPenalty);
      inverse_norm_[j] = 1 / std::sqrt(centered(j, j) + penalty_[j]);
    }
    centered.diagonal() += penalty_;
    const MatrixXd cosines = inverse_norm_.asDiagonal() * centered * inverse_norm_.asDiagonal();
    const double least = static_cast<double>(n_) * std::numeric_limits<double>::epsilon();
    cholesky_.compute(cosines);
    if (cholesky_.info() == Eigen::Success && cholesky_.rcond() > least) return;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(cosines);
    vectors_ = solver.eigenvectors();
    inverse_values_ = VectorXd::Zero(n_);
    for (Index i = 0; i < n_; ++i) {
      const double value = solver.eigenvalues()[i];
      if (value > least * solver.eigenvalues()[n_ - 1]) inverse_values_[i] = 1 / value;
    }
  }

  std::size_t rank() const {
    return static_cast<std::size_t>(vectors_.size() == 0 ? n_ : (inverse_values_.array() > 0).count());
  }

  /// By how much coefficients and intercept [n + 1] must change for the gradient [n + 1] to vanish.
  VectorXd step(const VectorXd& gradient) const {
    const VectorXd centered = gradient.head(n_) - sums_ * (gradient[n_] / weight_);
    VectorXd step(n_ + 1);
    step.head(n_) = -inverse_norm_.cwiseProduct(solve(inverse_norm_.cwiseProduct(centered)));
    step[n_] = -(gradient[n_] + sums_.dot(step.head(n_))) / weight_;
    return step;
  }

  /// Of the penalty, at some coefficients.
  VectorXd gradient_of_penalty(const VectorXd& coefficients) const { return penalty_.cwiseProduct(coefficients); }

  /// The largest cosine between a feature and something of a norm with which features have these products.
  double largest_cosine(const VectorXd& gradient, double norm) const {
    if (norm <= 0) return 0;
    return inverse_norm_.cwiseProduct(gradient.head(n_) - sums_ * (gradient[n_] / weight_)).cwiseAbs().maxCoeff() /
           norm;
  }

 private:
  VectorXd solve(const VectorXd& right) const {
    if (vectors_.size() == 0) return cholesky_.solve(right);
    return vectors_ * inverse_values_.cwiseProduct(vectors_.transpose() * right);
  }

  Index n_;
  double weight_;
  VectorXd sums_;
  VectorXd inverse_norm_;  // 0 of a constant
  VectorXd penalty_;
  Eigen::LLT<MatrixXd> cholesky_;
  MatrixXd vectors_;         // empty where the rank is n_, and Cholesky's factors do
  VectorXd inverse_values_;  // 0 where there is no rank
};

}  // namespace

void set_solution(const VectorXd& solution, const Scales& scales, LeastSquares& found) {
  const Index n = solution.size() - 1;
  const double factor = scales.factor[n];
  double intercept = scales.shift[n] + solution[n] / factor;
  for (Index j = 0; j < n; ++j) {
    found.coefficients.push_back(solution[j] * scales.factor[j] / factor);
    intercept -= found.coefficients.back() * scales.shift[j];
  }
  found.intercept = intercept;
}

double least_squares_bytes(std::size_t n_features, int n_threads) {
  return (16.0 * n_threads + 40) * static_cast<double>(n_features) * static_cast<double>(n_features);
}

LeastSquares solve_least_squares(const Rows& rows, const Penalty& penalty, const comm::Communicator& comm,
                                 int n_threads) {
  const Scales scales = measure_scales(rows, comm, n_threads);
  return solve_least_squares(scaled_blocks(rows, scales), scales, penalty, comm, n_threads);
}

LeastSquares solve_least_squares(const linalg::RowBlocks& blocks, const Scales& scales, const Penalty& penalty,
                                 const comm::Communicator& comm, int n_threads) {
  linalg::use_the_same_blocks_everywhere();
  const auto n = static_cast<Index>(blocks.n_columns - 2);
  const MatrixXd gram = linalg::gram(blocks, comm, n_threads).selfadjointView<Eigen::Upper>();
  const NormalEquations equations(gram, scales, penalty);
  LeastSquares found{.rank = equations.rank()};
  const double weight = gram(n, n);
  const double unit = scales.factor[n] * scales.factor[n];
  found.variance = std::max(0.0, gram(n + 1, n + 1) - gram(n, n + 1) * gram(n, n + 1) / weight) / weight / unit;

  VectorXd solution = equations.step(-gram.col(n + 1).head(n + 1));
  for (int i = 0; i < kPasses; ++i) {
    Remainder left = remainder_of(blocks, solution, comm, n_threads);
    left.gradient.head(n) += equations.gradient_of_penalty(solution.head(n));
    found.squared_error = left.squared_error / weight / unit;
    found.largest_cosine = equations.largest_cosine(left.gradient, std::sqrt(left.squared_error));
    if (i + 1 < kPasses) solution += equations.step(left.gradient);
  }
  set_solution(solution, scales, found);
  return found;
}

}  // namespace podere::linear
