#include "podere/cluster/scaled_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/huge_array.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/table/check_numbers.h"
#include "podere/table/standardize.h"

namespace podere::cluster {
namespace {

constexpr std::size_t kPrefetchRows = 128;
constexpr float kFarthest = 1e15F;  // its square, times the features that a table may have, is a float32

/// The least and largest value of each feature; collective.
std::vector<std::pair<float, float>> ranges_of(const table::Table& table, const comm::Communicator& comm,
                                               int n_threads) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<float> least(2 * table.n_features(), kInfinite);  // of values, and of negated ones
  parallel_for(n_threads, table.n_features(), [&](std::size_t j, int) {
    for (const float x : table.feature(j)) {
      least[2 * j] = std::min(least[2 * j], x);
      least[2 * j + 1] = std::min(least[2 * j + 1], -x);
    }
  });
  comm.all_reduce(std::span(least), comm::Reduction::kMin);
  std::vector<std::pair<float, float>> ranges;
  for (std::size_t j = 0; j < table.n_features(); ++j) ranges.emplace_back(least[2 * j], -least[2 * j + 1]);
  return ranges;
}

/// A power of two that makes the largest of some numbers at least 1/4 and below 1.
double common_factor(const std::vector<double>& reach) {
  const double widest = *std::ranges::max_element(reach);
  return widest > 0 ? std::ldexp(1.0, -std::ilogb(widest) - 1) : 1;
}

/// Variances of rows, by sums of blocks of rows that are added exactly. Collective.
std::vector<double> variances(const ScaledRows& rows, const comm::Communicator& comm, int n_threads) {
  const std::size_t n_features = rows.n_features();
  std::vector<std::vector<ExactSum>> of_thread(static_cast<std::size_t>(n_threads));
  parallel_for_slices(n_threads, rows.n_rows(), kTileRows, [&](std::size_t begin, std::size_t end, int thread) {
    std::vector<ExactSum>& sums = of_thread[static_cast<std::size_t>(thread)];
    if (sums.empty()) sums.resize(2 * n_features);
    HugeArray<float> tile(n_features * kTileRows);
    rows.pack(begin, end, tile.data());
    for (std::size_t j = 0; j < n_features; ++j) {
      double sum = 0;
      double square_sum = 0;
      for (const float value : tile.span().subspan(j * kTileRows, kTileRows)) {  // zeros beyond the end add nothing
        sum += double{value};
        square_sum += double{value} * double{value};
      }
      sums[2 * j].add(sum);
      sums[2 * j + 1].add(square_sum);
    }
  });
  std::vector<ExactSum> total(2 * n_features);
  for (const auto& sums : of_thread) {
    for (std::size_t i = 0; i < sums.size(); ++i) total[i].add(sums[i]);
  }
  comm::all_reduce(comm, std::span(total));
  std::vector<double> result;
  const auto n = static_cast<double>(rows.n_global_rows());
  for (std::size_t j = 0; j < n_features; ++j) {
    const double mean = total[2 * j].value() / n;
    result.push_back(std::max(0.0, total[2 * j + 1].value() / n - mean * mean));
  }
  return result;
}

}  // namespace

void check_units(const Units& units, std::size_t n_features) {
  const auto are_finite = [&](const std::vector<double>& values) {
    return values.size() == n_features && std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
  };
  const bool fit = n_features > 0 && are_finite(units.shift) && are_finite(units.factor) &&
                   std::ranges::all_of(units.factor, [](double factor) { return factor > 0; });
  if (!fit) throw InputError("its units do not fit its features");
}

Spread measure_spread(const table::Table& table, bool standardizes, const comm::Communicator& comm, int n_threads) {
  std::vector<std::span<const float>> columns;
  for (std::size_t j = 0; j < table.n_features(); ++j) columns.push_back(table.feature(j));
  table::check_complete(columns, table.schema().features, table.global({0}), "distances need", comm, n_threads);
  table::check_weights(table, comm, n_threads);
  const std::vector<std::pair<float, float>> ranges = ranges_of(table, comm, n_threads);
  const table::Scaling scaling = table::measure_scaling(table, comm, n_threads);
  std::vector<double> reach;  // of each feature, from its mean
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    const auto& [least, most] = ranges[j];
    reach.push_back(std::max(most - scaling.mean[j], scaling.mean[j] - least));
  }
  Spread spread{.units = {.shift = scaling.mean, .factor = {}}, .bound = {}, .variance = {}};
  const double factor = common_factor(reach);
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    spread.units.factor.push_back(standardizes ? 1 / scaling.scale[j] : factor);
    spread.bound.push_back(reach[j] * spread.units.factor[j]);
  }
  spread.variance = variances(ScaledRows(table, spread.units), comm, n_threads);
  return spread;
}

ScaledRows::ScaledRows(std::vector<std::span<const float>> columns, std::span<const float> weights,
                       table::RowRange rows, std::uint64_t n_global_rows, const Units& units)
    : columns_(std::move(columns)), weights_(weights), rows_(rows), n_global_rows_(n_global_rows), units_(units) {}

ScaledRows::ScaledRows(const table::Table& table, const Units& units)
    : ScaledRows({}, table.weight(), table.rows(), table.n_global_rows(), units) {
  for (std::size_t j = 0; j < table.n_features(); ++j) columns_.push_back(table.feature(j));
}

void ScaledRows::pack(std::span<const std::size_t> rows, float* tile) const {
  for (std::size_t j = 0; j < n_features(); ++j) {
    const float* const column = columns_[j].data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      __builtin_prefetch(column + rows[i] + kPrefetchRows);
      tile[j * kTileRows + i] = column[rows[i]];
    }
  }
  scale_tile(tile, n_features(), rows.size(), units_.shift.data(), units_.factor.data(), kFarthest);
}

void ScaledRows::pack(std::size_t begin, std::size_t end, float* tile) const {
  for (std::size_t j = 0; j < n_features(); ++j) {
    std::ranges::copy(columns_[j].subspan(begin, end - begin), tile + j * kTileRows);
  }
  scale_tile(tile, n_features(), end - begin, units_.shift.data(), units_.factor.data(), kFarthest);
}

std::vector<float> ScaledRows::values(std::size_t row) const {
  HugeArray<float> tile(n_features() * kTileRows);
  pack(row, row + 1, tile.data());
  std::vector<float> values;
  for (std::size_t j = 0; j < n_features(); ++j) values.push_back(tile[j * kTileRows]);
  return values;
}

}  // namespace podere::cluster
