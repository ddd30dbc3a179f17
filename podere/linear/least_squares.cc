#include "podere/linear/least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/linalg/products.h"

namespace podere::linear {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kLargestPenalty = 0x1p900;  // its square root, and products with it, are finite

/// What stands for features and label: (value - shift) * factor is at most 1 in magnitude.
struct Scales {
  VectorXd shift;   // [n_features + 1], the label last: their weighted means
  VectorXd factor;  // the same: powers of two
  double largest_weight = 1;
};

/// Features and label, the latter last.
std::span<const float> column(const Rows& rows, std::size_t j) {
  return j < rows.n_features() ? rows.columns[j] : rows.label;
}

/// Of the rows that count: those of weight 0 may hold anything. Collective.
Scales measure_scales(const Rows& rows, const comm::Communicator& comm, int n_threads) {
  const std::size_t n = rows.n_features() + 1;
  std::vector<ExactSum> sums(n + 1);                                        // the sum of the weights last
  std::vector<float> least(2 * n, std::numeric_limits<float>::infinity());  // of values, and of negated ones
  parallel_for(n_threads, n, [&](std::size_t j, int) {
    const std::span<const float> values = column(rows, j);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (rows.weight_of(i) == 0) continue;
      sums[j].add(double{rows.weight_of(i)} * double{values[i]});
      least[2 * j] = std::min(least[2 * j], values[i]);
      least[2 * j + 1] = std::min(least[2 * j + 1], -values[i]);
    }
  });
  float largest_weight = 0;
  for (std::size_t i = 0; i < rows.n_rows(); ++i) {
    sums[n].add(double{rows.weight_of(i)});
    largest_weight = std::max(largest_weight, rows.weight_of(i));
  }
  comm::all_reduce(comm, std::span(sums));
  comm.all_reduce(std::span(least), comm::Reduction::kMin);
  Scales scales{VectorXd(n), VectorXd(n), double{comm.all_reduce(largest_weight, comm::Reduction::kMax)}};
  for (std::size_t j = 0; j < n; ++j) {
    const auto place = static_cast<Index>(j);
    const double smallest = double{least[2 * j]};
    const double largest = -double{least[2 * j + 1]};
    const double mean = smallest == largest ? smallest : sums[j].value() / sums[n].value();  // exactly, of a constant
    const double reach = std::max(largest - mean, mean - smallest);
    scales.shift[place] = mean;
    scales.factor[place] = reach > 0 ? std::ldexp(1.0, -std::ilogb(reach) - 1) : 1;
  }
  return scales;
}

/// The matrix Z of rows  sqrt(w) [x, 1, y], all of them scaled.
linalg::RowBlocks blocks_of(const Rows& rows, const Scales& scales) {
  const std::size_t n = rows.n_features();
  const auto fill = [&rows, &scales, n](std::size_t begin, std::size_t end, std::span<double> values) {
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return values[(i - begin) * (n + 2) + j]; };
    for (std::size_t j = 0; j <= n; ++j) {
      const auto place = static_cast<Index>(j);
      const double shift = scales.shift[place];
      const double factor = scales.factor[place];
      const std::span<const float> from = column(rows, j);
      for (std::size_t i = begin; i < end; ++i) at(i, j < n ? j : n + 1) = (double{from[i]} - shift) * factor;
    }
    for (std::size_t i = begin; i < end; ++i) at(i, n) = 1;
    if (rows.weight.empty()) return;
    for (std::size_t i = begin; i < end; ++i) {
      const double root = std::sqrt(double{rows.weight[i]} / scales.largest_weight);
      for (double& value : values.subspan((i - begin) * (n + 2), n + 2)) value = root == 0 ? 0 : value * root;
    }
  };
  return {.n_global_rows = rows.n_global_rows, .n_rows = rows.n_rows(), .n_columns = n + 2, .fill = fill};
}

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

/// In the units of features and label.
void set_coefficients(const VectorXd& solution, const Scales& scales, LeastSquares& found) {
  const Index n = solution.size() - 1;
  const double factor = scales.factor[n];
  double intercept = scales.shift[n] + solution[n] / factor;
  for (Index j = 0; j < n; ++j) {
    found.coefficients.push_back(solution[j] * scales.factor[j] / factor);
    intercept -= found.coefficients.back() * scales.shift[j];
  }
  found.intercept = intercept;
}

}  // namespace

LeastSquares solve_least_squares(const Rows& rows, const Penalty& penalty, const comm::Communicator& comm,
                                 int n_threads) {
  linalg::use_the_same_blocks_everywhere();
  const auto n = static_cast<Index>(rows.n_features());
  const Scales scales = measure_scales(rows, comm, n_threads);
  const linalg::RowBlocks blocks = blocks_of(rows, scales);
  const MatrixXd gram = linalg::gram(blocks, comm, n_threads).selfadjointView<Eigen::Upper>();
  const NormalEquations equations(gram, scales, penalty);
  LeastSquares found{.rank = equations.rank()};
  const double weight = gram(n, n);
  const double unit = scales.factor[n] * scales.factor[n];
  found.variance = std::max(0.0, gram(n + 1, n + 1) - gram(n, n + 1) * gram(n, n + 1) / weight) / weight / unit;

  VectorXd solution = equations.step(-gram.col(n + 1).head(n + 1));
  for (int i = 0; i < kPasses; ++i) {
    VectorXd x(n + 2);
    x << solution, -1;  // Z x: minus what is left of the label
    const double norm = x.norm();
    const linalg::Products products = linalg::products(blocks, x / norm, comm, n_threads);
    VectorXd gradient = products.aax.col(0).head(n + 1) * norm;
    gradient.head(n) += equations.gradient_of_penalty(solution.head(n));
    const double error = products.xaax(0, 0) * norm * norm;
    found.squared_error = error / weight / unit;
    found.largest_cosine = equations.largest_cosine(gradient, std::sqrt(error));
    if (i + 1 < kPasses) solution += equations.step(gradient);
  }
  set_coefficients(solution, scales, found);
  return found;
}

}  // namespace podere::linear
