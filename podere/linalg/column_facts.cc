#include "podere/linalg/column_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/linalg/products.h"

namespace podere::linalg {
namespace {

constexpr std::size_t kGrainRows = 1024;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

std::uint64_t first_not_finite(const TallRows& a, std::size_t begin, std::size_t end) {
  const std::span<const double> values = a.values().subspan(begin * a.n_columns(), (end - begin) * a.n_columns());
  const auto found = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (found == values.end()) return kNone;
  return a.rows().begin * a.n_columns() + begin * a.n_columns() + static_cast<std::uint64_t>(found - values.begin());
}

/// The least exponent: 2^1000 is a double, and so is its product with any value that is small enough.
constexpr int kLeast = -1000;

/// The power of two that values of a column are divided by to be at most 1 in magnitude; kLeast if all are zero.
int exponent_of(double magnitude, double shift, double factor) {
  int exponent = kLeast;
  if (factor == 0) return exponent;
  // By exponents, since the product itself may be beyond the largest double.
  for (const double part : {magnitude, std::fabs(shift)}) {
    if (part > 0) exponent = std::max(exponent, std::ilogb(part) + std::ilogb(factor) + 3);
  }
  return exponent;
}

}  // namespace

NotFinite::NotFinite(std::uint64_t row, std::size_t column, const std::string& name)
    : InputError(fmt::format("row {}, column {}: the value is missing or infinite", row,
                             name.empty() ? std::to_string(column) : printable(name))),
      row_(row),
      column_(column) {}

std::vector<double> magnitudes(const TallRows& a, const std::vector<std::string>& names, const comm::Communicator& comm,
                               int n_threads) {
  const std::size_t n_pieces = (a.n_rows() + kGrainRows - 1) / kGrainRows;
  std::vector<std::uint64_t> not_finite(n_pieces + 1, kNone);
  std::vector<std::vector<double>> largest(static_cast<std::size_t>(std::max(n_threads, 1)),
                                           std::vector<double>(a.n_columns(), 0.0));
  parallel_for_slices(n_threads, a.n_rows(), kGrainRows, [&](std::size_t begin, std::size_t end, int thread) {
    std::vector<double>& mine = largest[static_cast<std::size_t>(thread)];
    std::vector<double> zeros(a.n_columns(), 0.0);  // NaN where a value is not finite
    for (std::size_t i = begin; i < end; ++i) {
      const double* const row = a.row(i).data();
      for (std::size_t j = 0; j < zeros.size(); ++j) {
        mine[j] = std::max(mine[j], std::fabs(row[j]));
        zeros[j] += row[j] * 0;
      }
    }
    const bool is_finite = std::ranges::all_of(zeros, [](double zero) { return zero == 0; });
    if (!is_finite) not_finite[begin / kGrainRows] = first_not_finite(a, begin, end);
  });
  for (const std::vector<double>& other : largest) {
    for (std::size_t j = 0; j < a.n_columns(); ++j) largest[0][j] = std::max(largest[0][j], other[j]);
  }
  const std::uint64_t first = comm.all_reduce(std::ranges::min(not_finite), comm::Reduction::kMin);
  if (first != kNone) {
    const std::size_t column = static_cast<std::size_t>(first % a.n_columns());
    throw NotFinite(first / a.n_columns(), column, names.empty() ? "" : names[column]);
  }
  comm.all_reduce(std::span(largest[0]), comm::Reduction::kMax);
  return largest[0];
}

BoundedMap bounded(ColumnMap map, const std::vector<double>& magnitudes) {
  int exponent = kLeast;
  for (std::size_t j = 0; j < magnitudes.size(); ++j) {
    exponent = std::max(exponent, exponent_of(magnitudes[j], map.shift[j], map.factor[j]));
  }
  if (std::ranges::all_of(magnitudes, [](double magnitude) { return magnitude == 0; })) exponent = 0;
  for (double& factor : map.factor) factor = std::ldexp(factor, -exponent);
  return {std::move(map), exponent};
}

Moments moments(const TallRows& a, const std::vector<double>& magnitudes, Moments::Wanted wanted,
                const comm::Communicator& comm, int n_threads) {
  // Each column is divided by a power of its own, so that one of huge values costs the others no digits.
  const auto m = static_cast<double>(a.n_global_rows());
  ColumnMap map = ColumnMap::identity(a.n_columns());
  std::vector<int> exponents;
  for (std::size_t j = 0; j < a.n_columns(); ++j) {
    exponents.push_back(exponent_of(magnitudes[j], magnitudes[j], 1));
    map.factor[j] = std::ldexp(1.0, -exponents[j]);
  }
  for (int turn = 0; turn < 2; ++turn) {  // the second turn adds the mean of what is left: its rounding errors
    const Eigen::VectorXd sums = column_sums(a, map, Power::kFirst, comm, n_threads);
    for (std::size_t j = 0; j < a.n_columns(); ++j) {
      map.shift[j] += std::ldexp(sums[static_cast<Eigen::Index>(j)] / m, exponents[j]);
    }
  }
  Moments result{.means = map.shift, .deviations = {}};
  if (wanted == Moments::Wanted::kMeans) return result;
  const Eigen::VectorXd squares = column_sums(a, map, Power::kSecond, comm, n_threads);
  for (std::size_t j = 0; j < a.n_columns(); ++j) {
    const double deviation = m > 1 ? std::sqrt(squares[static_cast<Eigen::Index>(j)] / (m - 1)) : 0;
    // Where all values are equal, what is left is at most the rounding of the mean.
    const double rounding = 2 * std::numeric_limits<double>::epsilon() * std::fabs(result.means[j]) * map.factor[j];
    result.deviations.push_back(deviation > rounding ? std::ldexp(deviation, exponents[j]) : 0);
  }
  return result;
}

}  // namespace podere::linalg
