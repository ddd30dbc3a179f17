#include "podere/linear/conjugate_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace podere::linear {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The normal equations of centered features, of which only products are known:
///   (X^T X - s s^T / W + l2) c = X^T y - s (sum of y) / W,  s = X^T 1,  W the sum of the weights.
class CenteredProducts {
 public:
  CenteredProducts(const linalg::RowBlocks& blocks, double l2, const comm::Communicator& comm, int n_threads)
      : blocks_(blocks), l2_(l2), comm_(comm), n_threads_(n_threads), n_(static_cast<Index>(blocks.n_columns) - 2) {
    const MatrixXd ones_and_label = MatrixXd::Identity(n_ + 2, n_ + 2).rightCols(2);
    const linalg::Products first = linalg::products(blocks, ones_and_label, comm, n_threads);
    weight_ = first.xaax(0, 0);
    mean_label_ = first.xaax(0, 1) / weight_;
    variance_ = std::max(0.0, first.xaax(1, 1) / weight_ - mean_label_ * mean_label_);
    means_ = first.aax.col(0).head(n_) / weight_;
    right_ = first.aax.col(1).head(n_) - means_ * first.xaax(0, 1);
  }

  double weight() const { return weight_; }
  double variance() const { return variance_; }
  const VectorXd& right() const { return right_; }
  /// [n + 1] with the intercept at which errors sum to 0.
  VectorXd with_intercept(const VectorXd& coefficients) const {
    VectorXd solution(n_ + 1);
    solution << coefficients, mean_label_ - means_.dot(coefficients);
    return solution;
  }
  /// Collective: a pass.
  VectorXd times(const VectorXd& p) const {
    VectorXd x(n_ + 2);
    x << p, -means_.dot(p), 0;
    const double norm = x.norm();
    return linalg::products(blocks_, x / norm, comm_, n_threads_).aax.col(0).head(n_) * norm + l2_ * p;
  }

 private:
  const linalg::RowBlocks& blocks_;
  double l2_;
  const comm::Communicator& comm_;
  int n_threads_;
  Index n_;
  double weight_ = 0;
  double mean_label_ = 0;
  double variance_ = 0;
  VectorXd means_;
  VectorXd right_;
};

}  // namespace

CgResult conjugate_gradients(const linalg::RowBlocks& blocks, const Scales& scales, const CgOptions& options,
                             const comm::Communicator& comm, int n_threads, const AfterIteration& after_iteration) {
  const double l2 = std::min(options.l2 / scales.largest_weight, kLargestPenalty);
  const CenteredProducts a(blocks, l2, comm, n_threads);
  const double norm = a.right().norm();
  CgResult result;
  VectorXd c = VectorXd::Zero(a.right().size());
  VectorXd r = a.right();
  VectorXd p = r;
  double r_squared = r.squaredNorm();
  const auto is_close = [&] { return std::sqrt(r_squared) <= options.tolerance * norm; };
  while (!is_close() && result.n_iterations < options.max_iterations && !result.was_stopped) {
    const VectorXd q = a.times(p);
    const double curvature = p.dot(q);
    if (curvature <= 0) break;  // by rounding
    const double alpha = r_squared / curvature;
    c += alpha * p;
    r -= alpha * q;
    const double before = r_squared;
    r_squared = r.squaredNorm();
    p = r + r_squared / before * p;
    ++result.n_iterations;
    const bool stops = !after_iteration(result.n_iterations, std::sqrt(r_squared) / norm) && comm.is_root();
    result.was_stopped = comm.all_reduce(std::int32_t{stops}, comm::Reduction::kMax) != 0;
  }
  result.has_converged = is_close();
  result.n_passes = result.n_iterations + 2;

  const VectorXd solution = a.with_intercept(c);
  const Remainder left = remainder_of(blocks, solution, comm, n_threads);
  if (norm > 0) result.residual = (left.gradient.head(c.size()) + l2 * c).norm() / norm;
  const double factor = scales.factor[c.size()];
  result.found.squared_error = left.squared_error / a.weight() / (factor * factor);
  result.found.variance = a.variance() / (factor * factor);
  set_solution(solution, scales, result.found);
  return result;
}

}  // namespace podere::linear
