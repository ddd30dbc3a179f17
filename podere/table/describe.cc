#include "podere/table/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_set>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"

namespace podere::table {
namespace {

struct Column {
  std::string name;
  std::span<const float> values;
};

std::vector<Column> columns_of(const Table& table) {
  std::vector<Column> columns;
  for (std::size_t j = 0; j < table.n_features(); ++j)
    columns.push_back({table.schema().features[j], table.feature(j)});
  if (table.schema().label) columns.push_back({*table.schema().label, table.label()});
  if (table.schema().weight) columns.push_back({*table.schema().weight, table.weight()});
  return columns;
}

/// All but the histograms, of all columns. One vector for each number, so that it goes in one all_reduce.
struct Moments {
  explicit Moments(std::size_t n_columns)
      : minimum(n_columns, std::numeric_limits<float>::infinity()),
        maximum(n_columns, -std::numeric_limits<float>::infinity()),
        sum(n_columns),
        counts(2 * n_columns, 0) {}

  void take(std::size_t j, std::span<const float> values) {
    float least = minimum[j];
    float largest = maximum[j];
    std::uint64_t n_missing = 0;
    std::uint64_t n_infinite = 0;
    for (const float value : values) {
      if (std::isfinite(value)) {
        least = std::min(least, value);
        largest = std::max(largest, value);
        sum[j].add(value);
      } else {
        ++(std::isnan(value) ? n_missing : n_infinite);
      }
    }
    minimum[j] = least + 0.0F;  // -0 becomes +0: which of the two comes first depends on the ranks
    maximum[j] = largest + 0.0F;
    counts[2 * j] = n_missing;
    counts[2 * j + 1] = n_infinite;
  }

  void sum_over_ranks(const comm::Communicator& comm) {
    comm.all_reduce(std::span(minimum), comm::Reduction::kMin);
    comm.all_reduce(std::span(maximum), comm::Reduction::kMax);
    comm.all_reduce(std::span(counts), comm::Reduction::kSum);
    comm::all_reduce(comm, sum);
  }

  std::vector<float> minimum;
  std::vector<float> maximum;
  std::vector<ExactSum> sum;
  std::vector<std::uint64_t> counts;  // missing, infinite, of each column
};

void count_bins(std::span<const float> values, double minimum, double maximum, std::span<std::uint64_t> bins) {
  const double width = maximum - minimum;
  const double per_width = width > 0 ? static_cast<double>(bins.size()) / width : 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto bin = static_cast<std::size_t>((value - minimum) * per_width);
    ++bins[std::min(bin, bins.size() - 1)];
  }
}

/// The values of a column that are not missing, each once, or kMostDifferent + 1 of them.
std::vector<float> different_values(std::span<const float> values) {
  std::unordered_set<float> found;  // -0 equals +0
  for (const float value : values) {
    if (!std::isnan(value)) found.insert(value);
    if (found.size() > kMostDifferent) break;
  }
  return {found.begin(), found.end()};
}

/// Of each column of the whole table, as n_different.
std::vector<std::size_t> count_different(const std::vector<Column>& columns, const comm::Communicator& comm,
                                         int n_threads) {
  std::vector<std::vector<float>> values(columns.size());
  parallel_for(n_threads, columns.size(), [&](std::size_t j, int) { values[j] = different_values(columns[j].values); });
  std::vector<float> own;
  std::vector<std::uint64_t> sizes;
  for (const auto& column : values) {
    own.insert(own.end(), column.begin(), column.end());
    sizes.push_back(column.size());
  }
  const std::vector<float> all = comm.all_gather_v(std::span<const float>(own));
  const std::vector<std::uint64_t> all_sizes = comm.all_gather_v(std::span<const std::uint64_t>(sizes));
  std::vector<std::unordered_set<float>> found(columns.size());
  const float* next = all.data();
  for (std::size_t i = 0; i < all_sizes.size(); next += all_sizes[i++]) {
    found[i % columns.size()].insert(next, next + all_sizes[i]);
  }
  std::vector<std::size_t> counts;
  for (const auto& column : found) counts.push_back(std::min(column.size(), kMostDifferent + 1));
  return counts;
}

}  // namespace

std::vector<ColumnSummary> describe(const Table& table, const comm::Communicator& comm, int n_threads) {
  const std::vector<Column> columns = columns_of(table);
  Moments moments(columns.size());
  parallel_for(n_threads, columns.size(), [&](std::size_t j, int) { moments.take(j, columns[j].values); });
  moments.sum_over_ranks(comm);

  std::vector<ColumnSummary> summaries(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    ColumnSummary& summary = summaries[j];
    summary.name = columns[j].name;
    summary.n_rows = table.n_global_rows();
    summary.n_missing = moments.counts[2 * j];
    summary.n_infinite = moments.counts[2 * j + 1];
    const std::uint64_t n_finite = summary.n_rows - summary.n_missing - summary.n_infinite;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    summary.minimum = n_finite > 0 ? moments.minimum[j] : nan;
    summary.maximum = n_finite > 0 ? moments.maximum[j] : nan;
    summary.mean = n_finite > 0 ? moments.sum[j].value() / static_cast<double>(n_finite) : nan;
  }

  const std::vector<std::size_t> n_different = count_different(columns, comm, n_threads);
  for (std::size_t j = 0; j < columns.size(); ++j) summaries[j].n_different = n_different[j];

  std::vector<std::uint64_t> bins(columns.size() * kHistogramBins, 0);
  const auto bins_of = [&](std::size_t j) { return std::span(bins).subspan(j * kHistogramBins, kHistogramBins); };
  parallel_for(n_threads, columns.size(), [&](std::size_t j, int) {
    count_bins(columns[j].values, summaries[j].minimum, summaries[j].maximum, bins_of(j));
  });
  comm.all_reduce(std::span(bins), comm::Reduction::kSum);
  for (std::size_t j = 0; j < columns.size(); ++j) std::ranges::copy(bins_of(j), summaries[j].histogram.begin());
  return summaries;
}

}  // namespace podere::table
