#include "podere/linalg/qr.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/linalg/column_facts.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/products.h"
#include "podere/linalg/triangular_solve.h"

namespace podere::linalg {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kQrSliceRows = 1024;
constexpr int kMostPasses = 12;  // four at most were seen to be needed
constexpr double kRounding = std::numeric_limits<double>::epsilon();

/// Of the distance of a column from the span of others, in its norm: what rounding leaves where zero would be right.
double distance_noise(Index n) { return 64 * kRounding * std::sqrt(static_cast<double>(n)); }

/// Columns that depend on those before them. They no longer count.
using Dependent = std::vector<bool>;

/// One step: R with R^T R = A^T A, or a little more.
struct Factor {
  MatrixXd r;
  bool is_shifted = false;
  bool is_last = false;  ///< A R^-1 is orthonormal to rounding
};

Factor factor_of(const MatrixXd& gram, const Dependent& dependent) {
  const Index n = gram.cols();
  const auto counts = [&](Index j) { return !dependent[static_cast<std::size_t>(j)]; };
  const VectorXd norms = VectorXd::NullaryExpr(n, [&](Index j) { return counts(j) ? std::sqrt(gram(j, j)) : 1; });
  MatrixXd cosines = MatrixXd::Identity(n, n);
  double farthest = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      if (!counts(i) || !counts(j)) continue;
      cosines(i, j) = cosines(j, i) = gram(i, j) / norms[i] / norms[j];
      farthest = std::max(farthest, std::fabs(cosines(i, j)));
    }
  }
  Factor factor;
  const double rounding = kRounding * static_cast<double>(n);
  factor.is_last = farthest * static_cast<double>(n) <= 0.5;
  Eigen::LLT<MatrixXd> cholesky(cosines);
  factor.is_shifted = cholesky.info() != Eigen::Success || cholesky.rcond() < 32 * rounding;
  if (factor.is_shifted) {
    double shift = 11 * rounding;
    do {
      cholesky.compute(cosines + shift * MatrixXd::Identity(n, n));
      shift *= 16;
    } while (cholesky.info() != Eigen::Success);
  }
  factor.r = MatrixXd(cholesky.matrixU()) * norms.asDiagonal();
  return factor;
}

/// What A is divided by, from the right: powers of two for its columns, then triangles.
struct Divisors {
  ColumnMap map;
  std::vector<UpperTriangle> triangles;

  /// Of rows one after another.
  void divide(std::span<const double> rows, std::span<double> result) const {
    const std::size_t n = map.factor.size();
    for (std::size_t k = 0; k < rows.size(); k += n) {
      for (std::size_t j = 0; j < n; ++j) result[k + j] = rows[k + j] * map.factor[j];
    }
    for (const UpperTriangle& triangle : triangles) solve_rows(triangle, result);
  }
};

MatrixXd gram_of_divided(const TallRows& a, const Divisors& divisors, const comm::Communicator& comm, int n_threads) {
  const std::size_t n = a.n_columns();
  const RowBlocks blocks{a.n_global_rows(), a.n_rows(), n,
                         [&](std::size_t begin, std::size_t end, std::span<double> values) {
                           divisors.divide(a.values().subspan(begin * n, (end - begin) * n), values);
                         }};
  return gram(blocks, comm, n_threads);
}

void refuse_dependent(const Dependent& dependent, const std::vector<std::string>& names) {
  std::vector<std::string> which;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (dependent[j]) which.push_back(names[j]);
  }
  if (which.empty()) return;
  const bool is_one = which.size() == 1;
  throw_input_error(
      "{} of those before {}, but for rounding, so Q has no direction for {}: {}; leave {} out with --drop",
      is_one ? "1 column is a combination" : fmt::format("{} columns are combinations", which.size()),
      is_one ? "it" : "them", is_one ? "it" : "them", printable_list(which), is_one ? "it" : "them");
}

/// Makes A the Q of its `r`, under the map of the divisors. Returns the residuals. Collective.
std::vector<double> divide_in_place(TallMatrix& a, const Divisors& divisors, const MatrixXd& r,
                                    const comm::Communicator& comm, int n_threads) {
  const std::size_t n = a.n_columns();
  const ColumnMap as_they_are = ColumnMap::identity(n);
  std::vector<std::vector<double>> all(static_cast<std::size_t>(std::max(n_threads, 1)), std::vector<double>(2 * n));
  comm.agree([&] {
    parallel_for_slices(n_threads, a.n_rows(), kQrSliceRows, [&](std::size_t begin, std::size_t end, int thread) {
      TallMatrix q(end - begin, n, {0, end - begin});
      divisors.divide(a.values().subspan(begin * n, (end - begin) * n), q.values());
      const TallMatrix product = multiply(q, as_they_are, r, 1);
      std::vector<double>& mine = all[static_cast<std::size_t>(thread)];
      for (std::size_t i = 0; i < q.n_rows(); ++i) {
        const std::span<double> row = a.row(begin + i);
        for (std::size_t j = 0; j < n; ++j) {
          const double value = row[j] * divisors.map.factor[j];
          mine[j] = std::max(mine[j], std::fabs(value - product.row(i)[j]));
          mine[n + j] = std::max(mine[n + j], std::fabs(value));
        }
        std::ranges::copy(q.row(i), row.begin());
      }
    });
  });
  for (const std::vector<double>& other : all) {
    std::ranges::transform(all[0], other, all[0].begin(), [](double x, double y) { return std::max(x, y); });
  }
  comm.all_reduce(std::span(all[0]), comm::Reduction::kMax);
  std::vector<double> residuals(n);
  for (std::size_t j = 0; j < n; ++j) residuals[j] = all[0][j] / all[0][n + j];
  return residuals;
}

}  // namespace

double qr_bytes(std::size_t n, int n_threads) {
  const auto columns = static_cast<double>(n);
  // Sums of each thread and of all, as of a gram matrix, and triangles; rows, Q and Q R of each thread.
  return sizeof(double) * columns * (columns * (n_threads + 8) + 3.0 * kQrSliceRows * n_threads);
}

Qr qr(TallMatrix& a, const std::vector<std::string>& names, WantedQ wanted, const comm::Communicator& comm,
      int n_threads) {
  const std::size_t n = a.n_columns();
  if (a.n_global_rows() < n) {
    throw_input_error("has {} row{} and {} columns, allowed are at least as many rows as columns", a.n_global_rows(),
                      a.n_global_rows() == 1 ? "" : "s", n);
  }
  use_the_same_blocks_everywhere();
  const ColumnRanges of_values = prepare(a, names, {}, comm, n_threads).ranges;
  Divisors divisors{ColumnMap::identity(n), {}};
  Dependent dependent(n, false);
  VectorXd units(static_cast<Index>(n));
  for (std::size_t j = 0; j < n; ++j) {
    divisors.map.factor[j] = std::ldexp(1.0, -exponent_above(of_values.magnitude(j)));
    units[static_cast<Index>(j)] = 1 / divisors.map.factor[j];
  }
  Qr result;
  result.r = MatrixXd::Identity(units.size(), units.size());
  VectorXd norms;  // of columns of A
  for (bool is_last = false; !is_last;) {
    if (result.n_passes == kMostPasses) throw Error("qr: columns are not orthonormal after all passes");
    const MatrixXd products = gram_of_divided(a, divisors, comm, n_threads);
    for (Index j = 0; j < products.cols(); ++j) {
      if (!(products(j, j) > 0)) dependent[static_cast<std::size_t>(j)] = true;
    }
    const Factor factor = factor_of(products, dependent);
    is_last = factor.is_last;
    ++result.n_passes;
    result.n_shifted += factor.is_shifted ? 1 : 0;
    divisors.triangles.emplace_back(factor.r);
    result.r = factor.r.triangularView<Eigen::Upper>() * result.r;
    if (norms.size() == 0) norms = result.r.colwise().norm();
    for (Index j = 0; j < norms.size(); ++j) {
      if (result.r(j, j) <= distance_noise(norms.size()) * norms[j]) dependent[static_cast<std::size_t>(j)] = true;
    }
  }
  refuse_dependent(dependent, names);
  if (wanted == WantedQ::kInPlace) result.residuals = divide_in_place(a, divisors, result.r, comm, n_threads);
  result.r = result.r * units.asDiagonal();
  return result;
}

}  // namespace podere::linalg
