#include "podere/linalg/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/comm/exact_reduce.h"

namespace podere::linalg {
namespace {

constexpr double kMost = 1e290;  // the root of a sum of squares of such is a double
constexpr std::size_t kSliceRows = 1024;

std::string column_text(const std::vector<std::string>& names, std::size_t column) {
  return "column " + printable(names[column]);
}

void refuse_huge(const ColumnRanges& ranges, const std::vector<std::string>& names) {
  for (std::size_t j = 0; j < ranges.least.size(); ++j) {
    if (ranges.magnitude(j) <= kMost) continue;
    throw_input_error("{} has values of up to {}, allowed are {}: divide them", column_text(names, j),
                      ranges.magnitude(j), kMost);
  }
}

/// Whatever each thread has for each column, in slices of rows: use(mine, begin, end).
template <typename T, typename Use>
std::vector<std::vector<T>> by_thread(const TallRows& a, std::size_t n, int n_threads, Use&& use) {
  std::vector<std::vector<T>> all(static_cast<std::size_t>(std::max(n_threads, 1)), std::vector<T>(n));
  parallel_for_slices(n_threads, a.n_rows(), kSliceRows, [&](std::size_t begin, std::size_t end, int thread) {
    use(all[static_cast<std::size_t>(thread)], begin, end);
  });
  return all;
}

std::vector<std::uint64_t> count_missing(const TallRows& a, const comm::Communicator& comm, int n_threads) {
  const auto by_threads = by_thread<std::uint64_t>(
      a, a.n_columns(), n_threads, [&](std::vector<std::uint64_t>& mine, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const double* const row = a.row(i).data();
          for (std::size_t j = 0; j < mine.size(); ++j) mine[j] += static_cast<std::uint64_t>(row[j] != row[j]);
        }
      });
  std::vector<std::uint64_t> counts(a.n_columns());
  for (const auto& mine : by_threads) {
    for (std::size_t j = 0; j < counts.size(); ++j) counts[j] += mine[j];
  }
  comm.all_reduce(std::span(counts), comm::Reduction::kSum);
  return counts;
}

/// Exact sums of the values of some columns that are not missing.
std::vector<ExactSum> sums_of(const TallRows& a, const std::vector<std::size_t>& columns,
                              const comm::Communicator& comm, int n_threads) {
  auto by_threads = by_thread<ExactSum>(a, columns.size(), n_threads,
                                        [&](std::vector<ExactSum>& mine, std::size_t begin, std::size_t end) {
                                          for (std::size_t i = begin; i < end; ++i) {
                                            const double* const row = a.row(i).data();
                                            for (std::size_t k = 0; k < columns.size(); ++k) {
                                              const double value = row[columns[k]];
                                              if (!std::isnan(value)) mine[k].add(value);
                                            }
                                          }
                                        });
  for (std::size_t thread = 1; thread < by_threads.size(); ++thread) {
    for (std::size_t k = 0; k < columns.size(); ++k) by_threads[0][k].add(by_threads[thread][k]);
  }
  comm::all_reduce(comm, by_threads[0]);
  return std::move(by_threads[0]);
}

}  // namespace

Prepared prepare(const TallRows& a, const std::vector<std::string>& names, const Preparation& wanted,
                 const comm::Communicator& comm, int n_threads) {
  Prepared prepared;
  prepared.ranges = ranges(a, names, comm, n_threads);
  refuse_huge(prepared.ranges, names);
  ColumnMap map = ColumnMap::identity(a.n_columns());
  if (wanted.center || wanted.scale) {
    const auto which = wanted.scale ? Moments::Wanted::kAll : Moments::Wanted::kMeans;
    prepared.moments = moments(a, prepared.ranges, which, comm, n_threads);
    map.shift = prepared.moments.means;
  }
  for (std::size_t j = 0; wanted.scale && j < map.factor.size(); ++j) {
    if (prepared.moments.deviations[j] < 1 / kMost) {
      throw_input_error("{} is constant, and cannot be scaled: leave it out with --drop, or do without --scale",
                        column_text(names, j));
    }
    map.factor[j] = 1 / prepared.moments.deviations[j];
  }
  prepared.map = bounded(std::move(map), prepared.ranges);
  return prepared;
}

std::vector<std::size_t> columns_with_values(const TallRows& a, const comm::Communicator& comm, int n_threads) {
  const std::vector<std::uint64_t> n_missing = count_missing(a, comm, n_threads);
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < n_missing.size(); ++j) {
    if (n_missing[j] < a.n_global_rows()) columns.push_back(j);
  }
  return columns;
}

std::vector<std::uint64_t> fill_with_means(TallMatrix& a, const std::vector<std::string>& names,
                                           const comm::Communicator& comm, int n_threads) {
  std::vector<std::uint64_t> n_missing = count_missing(a, comm, n_threads);
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < n_missing.size(); ++j) {
    if (n_missing[j] == a.n_global_rows()) {
      throw_input_error("{} has no values, and no mean: leave it out with --drop", column_text(names, j));
    }
    if (n_missing[j] > 0) columns.push_back(j);
  }
  if (columns.empty()) return n_missing;
  const std::vector<ExactSum> sums = sums_of(a, columns, comm, n_threads);
  std::vector<double> means;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto n = static_cast<double>(a.n_global_rows() - n_missing[columns[k]]);
    means.push_back(sums[k].value() / n);
    if (std::isfinite(means.back())) continue;
    throw_input_error("{} has missing values, and no mean: others are infinite, or too large to be added",
                      column_text(names, columns[k]));
  }
  parallel_for_slices(n_threads, a.n_rows(), kSliceRows, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      double* const row = a.row(i).data();
      for (std::size_t k = 0; k < columns.size(); ++k) {
        if (std::isnan(row[columns[k]])) row[columns[k]] = means[k];
      }
    }
  });
  return n_missing;
}

}  // namespace podere::linalg
