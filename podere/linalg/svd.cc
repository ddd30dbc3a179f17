#include "podere/linalg/svd.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/hash.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/products.h"

namespace podere::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kMostGramColumns = 1000;  ///< whose eigenvectors take about a second
constexpr std::size_t kMoreColumns = 8;         ///< than asked for, on which convergence of kKrylov depends
constexpr Index kMostBlocks = 8;                ///< of a basis, before a restart

/// Of singular values of A V, in the largest: what rounding leaves where zero would be right.
double noise(Index n) { return 64 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(n)); }

std::size_t block_columns(SvdMethod method, std::size_t rank, std::size_t n) {
  const std::size_t wanted = rank + (method == SvdMethod::kKrylov ? kMoreColumns : 0);
  return std::min(n, (wanted + kResultColumns - 1) / kResultColumns * kResultColumns);
}

MatrixXd thin_q(const MatrixXd& x) {
  return Eigen::HouseholderQR<MatrixXd>(x).householderQ() * MatrixXd::Identity(x.rows(), x.cols());
}

/// Orthonormal columns, orthogonal to those of `basis`, that span what X has beside it.
MatrixXd orthonormal_beside(const MatrixXd& basis, MatrixXd x) {
  for (int turn = 0; turn < 3; ++turn) {
    if (basis.cols() > 0) x -= basis * (basis.transpose() * x).eval();
    x = thin_q(x);
  }
  return x;
}

MatrixXd random_columns(Index n, Index l, std::uint64_t seed) {
  MatrixXd x(n, l);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < l; ++j) {
      x(i, j) = uniform01(hash64(seed, static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(i))) - 0.5;
    }
  }
  return thin_q(x);
}

/// Leading eigenvectors of a symmetric matrix, the largest first.
struct Leading {
  VectorXd values;
  MatrixXd vectors;
};
Leading leading_eigenvectors(const MatrixXd& symmetric, Index l) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
  return {solver.eigenvalues().reverse().head(l), solver.eigenvectors().rowwise().reverse().leftCols(l)};
}

/// Singular values and right vectors of Y from Y^T Y. If columns of Y are nearly orthogonal, small values keep their
/// relative accuracy, which those of the eigenvectors of Y^T Y lack: Y^T Y = D C D with norms D; C = R^T R; then those
/// of R D. Source: J. Demmel, K. Veselic, SIAM J. Matrix Anal. Appl. 13 (1992).
Leading singular_of_gram(const MatrixXd& gram) {
  const VectorXd norms = gram.diagonal().cwiseMax(0).cwiseSqrt();
  const VectorXd inverse = norms.unaryExpr([](double norm) { return norm > 0 ? 1 / norm : 0; });
  const MatrixXd cosines = inverse.asDiagonal() * gram * inverse.asDiagonal();
  MatrixXd r;
  const Eigen::LLT<MatrixXd> cholesky(cosines);
  if (cholesky.info() == Eigen::Success) {
    r = cholesky.matrixU();
  } else {  // some columns are in the span of others
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(cosines);
    r = eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.eigenvectors().transpose();
  }
  const Eigen::JacobiSVD<MatrixXd> svd(r * norms.asDiagonal(), Eigen::ComputeFullV);
  return {svd.singularValues(), svd.matrixV()};
}

/// Approximations to singular triples, in a basis.
struct Ritz {
  VectorXd s;
  MatrixXd v;
  MatrixXd remainders;  ///< A^T A v - s^2 v
};

/// Grows a basis by blocks and takes the best of it.
class Search {
 public:
  Search(Index rank, Index block, double tolerance) : rank_(rank), block_(block), tolerance_(tolerance) {}

  /// Adds columns, orthonormal beside those that are there.
  void add(const MatrixXd& x, const Products& products) {
    last_ = products.xaax;
    const Index n = basis_.cols();
    basis_.conservativeResize(x.rows(), n + x.cols());
    images_.conservativeResize(x.rows(), n + x.cols());
    basis_.rightCols(x.cols()) = x;
    images_.rightCols(x.cols()) = products.aax;
    is_one_block_ = n == 0;
    rotate();
  }
  /// The columns to look at next: these improve most.
  MatrixXd next() {
    if (basis_.cols() + block_ > std::min(basis_.rows(), kMostBlocks * block_)) restart();
    const Index room = std::min(block_, basis_.rows() - basis_.cols());
    return orthonormal_beside(basis_, ritz_.remainders.leftCols(room));
  }
  /// The best, alone.
  MatrixXd begin_with_best() {
    basis_.resize(basis_.rows(), 0);
    images_.resize(basis_.rows(), 0);
    return thin_q(ritz_.v);
  }
  const Ritz& ritz() const { return ritz_; }
  bool is_full() const { return basis_.cols() == basis_.rows(); }
  /// Whether a value is more than what rounding makes of zero. Those of several blocks are roots of eigenvalues.
  bool is_resolved(Index i) const {
    const double least = is_one_block_ ? noise(basis_.rows()) : std::sqrt(noise(basis_.rows()));
    return ritz_.s[i] > least * ritz_.s[0];
  }
  VectorXd residuals() const {
    VectorXd result(rank_);
    for (Index i = 0; i < rank_; ++i) {
      result[i] = is_resolved(i) ? ritz_.remainders.col(i).norm() / (ritz_.s[i] * ritz_.s[i]) : 1;
    }
    return result;
  }
  /// Of the values that are resolved the largest residual.
  double largest_residual() const {
    const VectorXd all = residuals();
    double largest = 0;
    for (Index i = 0; i < rank_; ++i) {
      if (is_resolved(i)) largest = std::max(largest, all[i]);
    }
    return largest;
  }
  /// By residuals of at most the tolerance, or no more than rounding.
  bool has_converged() const {
    const VectorXd all = residuals();
    for (Index i = 0; i < rank_; ++i) {
      const double rounding = noise(basis_.rows()) * ritz_.s[0] / ritz_.s[i];
      if (is_resolved(i) && !(all[i] <= std::max(tolerance_, rounding))) return false;
    }
    return true;
  }

 private:
  void rotate() {
    const Index l = std::min(block_, basis_.cols());
    MatrixXd chosen;
    if (is_one_block_) {
      const Leading leading = singular_of_gram(last_);
      ritz_.s = leading.values.head(l);
      chosen = leading.vectors.leftCols(l);
    } else {
      const MatrixXd projected = basis_.transpose() * images_;
      const Leading leading = leading_eigenvectors((projected + projected.transpose()) / 2, l);
      ritz_.s = leading.values.cwiseMax(0).cwiseSqrt();
      chosen = leading.vectors;
    }
    ritz_.v = basis_ * chosen;
    ritz_images_ = images_ * chosen;
    ritz_.remainders = ritz_images_ - ritz_.v * ritz_.s.cwiseAbs2().asDiagonal();
  }
  void restart() {
    basis_ = ritz_.v;
    images_ = ritz_images_;
  }

  Index rank_;
  Index block_;
  double tolerance_;
  MatrixXd basis_ = MatrixXd(0, 0);
  MatrixXd images_ = MatrixXd(0, 0);  ///< A^T A times the basis
  MatrixXd last_;
  MatrixXd ritz_images_;
  Ritz ritz_;
  bool is_one_block_ = false;
};

void fix_signs(MatrixXd& v) {
  for (Index j = 0; j < v.cols(); ++j) {
    Index largest = 0;
    v.col(j).cwiseAbs().maxCoeff(&largest);
    if (v(largest, j) < 0) v.col(j) *= -1;
  }
}

}  // namespace

SvdMethod chosen_method(const SvdOptions& options, std::size_t n) {
  if (options.method != SvdMethod::kAutomatic) return options.method;
  const std::size_t most_of_a_basis =
      static_cast<std::size_t>(kMostBlocks) * block_columns(SvdMethod::kKrylov, options.rank, n);
  return n <= kMostGramColumns || most_of_a_basis > n ? SvdMethod::kGram : SvdMethod::kKrylov;
}

double svd_bytes(const SvdOptions& options, std::size_t n, int n_threads) {
  const auto columns = static_cast<double>(n);
  const auto threads = static_cast<double>(n_threads);
  // Sums of each thread; then these, by rows, as they are sent, and as a matrix.
  const double of_gram = columns * columns * (threads + 4);
  const SvdMethod method = chosen_method(options, n);
  const auto block = static_cast<double>(block_columns(method, options.rank, n));
  const double of_products = columns * block * (2 * threads + 5);
  const double of_basis = columns * block * 3 * static_cast<double>(kMostBlocks);
  return sizeof(double) * (method == SvdMethod::kGram ? std::max(of_gram, of_products) : of_products + of_basis);
}

Svd svd(const TallRows& a, const BoundedMap& scaled, const SvdOptions& options, const comm::Communicator& comm,
        int n_threads, const AfterPass& after_pass) {
  use_the_same_blocks_everywhere();
  const std::size_t n = a.n_columns();
  const auto rank = static_cast<Index>(options.rank);
  Svd result;
  result.method = chosen_method(options, n);
  const auto block = static_cast<Index>(block_columns(result.method, options.rank, n));
  Search search(rank, block, options.tolerance);
  const auto look_at = [&](const MatrixXd& x) {
    search.add(x, products(a, scaled.map, x, comm, n_threads));
    ++result.n_passes;
    if (after_pass) after_pass(result.n_passes, search.largest_residual());
  };
  MatrixXd x;
  double squares = 0;
  if (result.method == SvdMethod::kGram) {
    const MatrixXd all = gram(a, scaled.map, comm, n_threads);
    ++result.n_passes;
    squares = all.trace();
    x = thin_q(leading_eigenvectors(all, block).vectors);
  } else {
    squares = column_sums(a, scaled.map, Power::kSecond, comm, n_threads).sum();
    look_at(random_columns(static_cast<Index>(n), block, options.seed));
    while (!search.has_converged() && !search.is_full() && result.n_passes + 1 < options.max_passes) {
      look_at(search.next());
    }
    x = search.begin_with_best();
  }
  // Values of the best are most accurate if they are found from A times these alone. Each pass improves these, too.
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    look_at(x);
    const double residual = search.largest_residual();
    if (search.has_converged() || residual > before / 2 || result.n_passes >= options.max_passes) break;
    before = residual;
    x = search.begin_with_best();
  }
  const VectorXd s = search.ritz().s.head(rank);
  result.s = s.unaryExpr([&](double value) { return std::ldexp(value, scaled.exponent); });
  result.shares = squares > 0 ? VectorXd(s.cwiseAbs2() / squares) : VectorXd::Zero(rank);
  result.v = search.ritz().v.leftCols(rank);
  result.residuals = search.residuals();
  result.has_converged = search.has_converged();
  fix_signs(result.v);
  return result;
}

TallMatrix left_vectors(const TallRows& a, const BoundedMap& scaled, const Svd& svd, int n_threads) {
  MatrixXd x = svd.v;
  for (Index j = 0; j < x.cols(); ++j) {
    x.col(j) *= j < svd.n_resolved() ? 1 / std::ldexp(svd.s[j], -scaled.exponent) : 0;
  }
  return multiply(a, scaled.map, x, n_threads);
}

Index Svd::n_resolved() const {
  return std::ranges::count_if(s, [&](double value) { return value > noise(v.rows()) * s[0]; });
}

double orthogonality(const TallRows& q, const comm::Communicator& comm, int n_threads) {
  MatrixXd products = gram(q, ColumnMap::identity(q.n_columns()), comm, n_threads);
  for (Index j = 0; j < products.cols(); ++j) {
    if (products(j, j) != 0) products(j, j) -= 1;
  }
  return products.cwiseAbs().maxCoeff();
}

}  // namespace podere::linalg
