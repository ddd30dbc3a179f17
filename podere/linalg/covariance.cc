#include "podere/linalg/covariance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/linalg/column_facts.h"
#include "podere/linalg/prepare.h"
#include "podere/linalg/products.h"

namespace podere::linalg {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double covariance_bytes(std::size_t n, int n_threads) {
  // Sums of each thread; then these, by rows, as they are sent, and as a matrix.
  return sizeof(double) * static_cast<double>(n) * static_cast<double>(n) * (n_threads + 4);
}

Covariance covariance(const TallRows& a, const std::vector<std::string>& names, const comm::Communicator& comm,
                      int n_threads) {
  if (a.n_global_rows() < 2) throw_input_error("has 1 row, covariances are of 2 or more: one does not vary");
  const auto m = static_cast<double>(a.n_global_rows());
  const std::size_t n = a.n_columns();
  Covariance result;
  const Prepared prepared = prepare(a, names, {.center = true}, comm, n_threads);
  result.means = prepared.moments.means;
  // Each column is divided by a power of two of its own, by how far it is from its mean: none costs others digits.
  ColumnMap map = ColumnMap::identity(n);
  std::vector<int> exponents(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double mean = map.shift[j] = result.means[j];
    exponents[j] = exponent_above(std::max(prepared.ranges.largest[j] - mean, mean - prepared.ranges.least[j]));
    map.factor[j] = std::ldexp(1.0, -exponents[j]);
  }
  const VectorXd left = column_sums(a, map, Power::kFirst, comm, n_threads);  // by the rounding of means
  MatrixXd& products = result.correlations;
  products = gram(a, map, comm, n_threads);
  const auto corrected = [&](Index i, Index j) { return products(i, j) - left[i] * left[j] / m; };
  VectorXd norms(products.cols());
  for (Index j = 0; j < norms.size(); ++j) {
    norms[j] = std::sqrt(std::max(corrected(j, j), 0.0));
    result.deviations.push_back(std::ldexp(norms[j] / std::sqrt(m - 1), exponents[static_cast<std::size_t>(j)]));
  }
  for (Index j = 0; j < norms.size(); ++j) {
    for (Index i = 0; i < j; ++i) {
      const bool both_vary = norms[i] > 0 && norms[j] > 0;
      const double correlation = both_vary ? corrected(i, j) / norms[i] / norms[j] : kUndefined;
      products(j, i) = products(i, j) = std::clamp(correlation, -1.0, 1.0);
    }
    products(j, j) = norms[j] > 0 ? 1 : kUndefined;
  }
  return result;
}

MatrixXd Covariance::into_covariances(const std::vector<std::string>& names) && {
  for (std::size_t j = 0; j < deviations.size(); ++j) {
    if (std::isfinite(deviations[j] * deviations[j])) continue;
    throw_input_error(
        "column {} has a standard deviation of {}, whose square is no float64: divide it, leave it out "
        "with --drop, or find correlations with --correlation",
        printable(names[j]), deviations[j]);
  }
  for (Index j = 0; j < correlations.cols(); ++j) {
    const double deviation = deviations[static_cast<std::size_t>(j)];
    for (Index i = 0; i < correlations.rows(); ++i) {
      const double other = deviations[static_cast<std::size_t>(i)];
      correlations(i, j) = deviation > 0 && other > 0 ? correlations(i, j) * (other * deviation) : 0;
    }
  }
  return std::move(correlations);
}

std::vector<ColumnPair> strongest_pairs(const MatrixXd& correlations, std::size_t most) {
  const auto is_stronger = [](const ColumnPair& a, const ColumnPair& b) {
    return std::fabs(a.correlation) > std::fabs(b.correlation);
  };
  std::vector<ColumnPair> strongest;  // of equals the first ones
  for (Index i = 0; i < correlations.cols(); ++i) {
    for (Index j = i + 1; j < correlations.cols(); ++j) {
      const ColumnPair pair{static_cast<std::size_t>(i), static_cast<std::size_t>(j), correlations(j, i)};
      if (std::isnan(pair.correlation)) continue;
      if (strongest.size() == most && !is_stronger(pair, strongest.back())) continue;
      if (strongest.size() == most) strongest.pop_back();
      strongest.insert(std::ranges::upper_bound(strongest, pair, is_stronger), pair);
    }
  }
  return strongest;
}

}  // namespace podere::linalg
