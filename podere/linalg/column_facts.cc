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
constexpr int kOfZeros = kLeast - 1;

/// The power of two that the values of a column are divided by, after (value - shift) * factor, to be at most 1 in
/// magnitude; kOfZeros if all are zero.
int exponent_of(const ColumnRanges& ranges, std::size_t j, double shift, double factor) {
  const double magnitude = std::max(std::fabs(ranges.least[j] - shift), std::fabs(ranges.largest[j] - shift));
  if (magnitude == 0 || factor == 0) return kOfZeros;
  // By exponents, since the product itself may be beyond the largest double.
  return std::max(kLeast, std::ilogb(magnitude) + std::ilogb(factor) + 2);
}

}  // namespace

NotFinite::NotFinite(std::uint64_t row, std::size_t column, const std::string& name)
    : InputError(fmt::format("row {}, column {}: the value is missing or infinite", row,
                             name.empty() ? std::to_string(column) : printable(name))),
      row_(row),
      column_(column) {}

ColumnRanges ranges(const TallRows& a, const std::vector<std::string>& names, const comm::Communicator& comm,
                    int n_threads) {
  const std::size_t n = a.n_columns();
  const std::size_t n_pieces = (a.n_rows() + kGrainRows - 1) / kGrainRows;
  std::vector<std::uint64_t> not_finite(n_pieces + 1, kNone);
  // Of each column the largest value, and the largest of its negative: one reduction finds both.
  std::vector<std::vector<double>> extremes(static_cast<std::size_t>(std::max(n_threads, 1)),
                                            std::vector<double>(2 * n, -std::numeric_limits<double>::infinity()));
  parallel_for_slices(n_threads, a.n_rows(), kGrainRows, [&](std::size_t begin, std::size_t end, int thread) {
    double* const largest = extremes[static_cast<std::size_t>(thread)].data();
    double* const of_negatives = largest + n;
    std::vector<double> zeros(n, 0.0);  // NaN where a value is not finite
    for (std::size_t i = begin; i < end; ++i) {
      const double* const row = a.row(i).data();
      for (std::size_t j = 0; j < n; ++j) {
        largest[j] = std::max(largest[j], row[j]);
        of_negatives[j] = std::max(of_negatives[j], -row[j]);
        zeros[j] += row[j] * 0;
      }
    }
    const bool is_finite = std::ranges::all_of(zeros, [](double zero) { return zero == 0; });
    if (!is_finite) not_finite[begin / kGrainRows] = first_not_finite(a, begin, end);
  });
  std::vector<double>& all = extremes[0];
  for (const std::vector<double>& other : extremes) {
    std::ranges::transform(all, other, all.begin(), [](double x, double y) { return std::max(x, y); });
  }
  const std::uint64_t first = comm.all_reduce(std::ranges::min(not_finite), comm::Reduction::kMin);
  if (first != kNone) {
    const std::size_t column = static_cast<std::size_t>(first % n);
    throw NotFinite(first / n, column, names.empty() ? "" : names[column]);
  }
  comm.all_reduce(std::span(all), comm::Reduction::kMax);
  if (a.n_global_rows() == 0) std::ranges::fill(all, 0.0);
  for (double& value : all) value += 0.0;  // of -0 and 0 either may have come first
  ColumnRanges found{.least = {}, .largest = {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)}};
  for (std::size_t j = 0; j < n; ++j) found.least.push_back(0.0 - all[n + j]);
  return found;
}

int exponent_above(double magnitude) { return magnitude == 0 ? 0 : std::max(std::ilogb(magnitude) + 1, kLeast); }

BoundedMap bounded(ColumnMap map, const ColumnRanges& ranges) {
  int exponent = kOfZeros;
  for (std::size_t j = 0; j < map.shift.size(); ++j) {
    exponent = std::max(exponent, exponent_of(ranges, j, map.shift[j], map.factor[j]));
  }
  if (exponent == kOfZeros) exponent = 0;
  for (double& factor : map.factor) factor = std::ldexp(factor, -exponent);
  return {std::move(map), exponent};
}

Moments moments(const TallRows& a, const ColumnRanges& ranges, Moments::Wanted wanted, const comm::Communicator& comm,
                int n_threads) {
  // Each column is divided by a power of its own, so that one of huge values costs the others no digits.
  const auto m = static_cast<double>(a.n_global_rows());
  const std::size_t n = a.n_columns();
  ColumnMap map = ColumnMap::identity(n);
  std::vector<int> exponents(n);
  const auto divide = [&] {
    for (std::size_t j = 0; j < n; ++j) {
      exponents[j] = exponent_of(ranges, j, map.shift[j], 1);
      map.factor[j] = std::ldexp(1.0, -exponents[j]);
    }
  };
  for (int turn = 0; turn < 2; ++turn) {  // the second turn adds the mean of what is left: its rounding errors
    divide();
    const Eigen::VectorXd sums = column_sums(a, map, Power::kFirst, comm, n_threads);
    for (std::size_t j = 0; j < n; ++j) {
      map.shift[j] += std::ldexp(sums[static_cast<Eigen::Index>(j)] / m, exponents[j]);
      if (ranges.least[j] == ranges.largest[j]) map.shift[j] = ranges.least[j];
    }
  }
  Moments result{.means = map.shift, .deviations = {}};
  if (wanted == Moments::Wanted::kMeans) return result;
  divide();
  const Eigen::VectorXd squares = column_sums(a, map, Power::kSecond, comm, n_threads);
  for (std::size_t j = 0; j < n; ++j) {
    const double variance = m > 1 ? squares[static_cast<Eigen::Index>(j)] / (m - 1) : 0;
    result.deviations.push_back(std::ldexp(std::sqrt(variance), exponents[j]));
  }
  return result;
}

}  // namespace podere::linalg
