#include "podere/cluster/scaled_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/comm/exact_reduce.h"
#include "podere/table/standardize.h"

namespace podere::cluster {
namespace {

constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();
constexpr float kFarthest = 1e15F;  // its square, times the features that a table may have, is a float32

/// The first row that a check does not pass, or kNoRow, over all ranks. Collective.
template <typename IsBad>
std::uint64_t first_bad_row(std::size_t n_rows, table::GlobalRow first, const comm::Communicator& comm, int n_threads,
                            IsBad&& is_bad) {
  std::vector<std::uint64_t> of_thread(static_cast<std::size_t>(n_threads), kNoRow);
  parallel_for_slices(n_threads, n_rows, table::kGrainRows, [&](std::size_t begin, std::size_t end, int thread) {
    std::uint64_t& found = of_thread[static_cast<std::size_t>(thread)];
    const std::size_t i = is_bad(begin, end);
    if (i < end) found = std::min(found, first.value + i);
  });
  return comm.all_reduce(*std::ranges::min_element(of_thread), comm::Reduction::kMin);
}

void check_weights(const table::Table& table, const comm::Communicator& comm, int n_threads) {
  const std::span<const float> weights = table.weight();
  if (!table.schema().weight) return;
  const auto is_bad = [&](float weight) { return !std::isfinite(weight) || weight < 0; };
  const std::uint64_t row =
      first_bad_row(weights.size(), table.global({0}), comm, n_threads, [&](std::size_t begin, std::size_t end) {
        return static_cast<std::size_t>(
            std::find_if(weights.begin() + static_cast<long>(begin), weights.begin() + static_cast<long>(end), is_bad) -
            weights.begin());
      });
  if (row != kNoRow) {
    throw_input_error("row {}: its weight {} is negative or no number, allowed are finite numbers from 0", row,
                      printable(*table.schema().weight));
  }
  const float largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
  if (comm.all_reduce(largest, comm::Reduction::kMax) == 0) throw InputError("all rows have the weight 0");
}

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

/// Units whose values are the differences from the middle of each feature, times one power of two.
Units common_units(const std::vector<std::pair<float, float>>& ranges) {
  Units units;
  double widest = 0;
  for (const auto& [least, most] : ranges) {
    units.shift.push_back((double{least} + double{most}) / 2);
    widest = std::max(widest, (double{most} - double{least}) / 2);
  }
  units.factor.assign(ranges.size(), widest > 0 ? std::ldexp(1.0, -std::ilogb(widest) - 1) : 1);
  return units;
}

/// Variances of rows, by sums of blocks of rows that are added exactly. Collective.
std::vector<double> variances(const ScaledRows& rows, const comm::Communicator& comm, int n_threads) {
  const std::size_t n_features = rows.n_features();
  std::vector<std::vector<ExactSum>> of_thread(static_cast<std::size_t>(n_threads));
  parallel_for_slices(n_threads, rows.n_rows(), kTileRows, [&](std::size_t begin, std::size_t end, int thread) {
    std::vector<ExactSum>& sums = of_thread[static_cast<std::size_t>(thread)];
    if (sums.empty()) sums.resize(2 * n_features);
    std::vector<float> tile(n_features * kTileRows);
    rows.pack(begin, end, tile.data());
    for (std::size_t j = 0; j < n_features; ++j) {
      double sum = 0;
      double square_sum = 0;
      for (const float value : std::span(tile).subspan(j * kTileRows, kTileRows)) {  // zeros beyond the end add nothing
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

void check_complete(std::span<const std::span<const float>> columns, std::span<const std::string> names,
                    table::GlobalRow first, const comm::Communicator& comm, int n_threads) {
  const std::size_t n_rows = columns.empty() ? 0 : columns.front().size();
  const std::uint64_t row = first_bad_row(n_rows, first, comm, n_threads, [&](std::size_t begin, std::size_t end) {
    std::size_t bad = end;
    for (const auto& column : columns) {
      const auto is_bad = [](float value) { return !std::isfinite(value); };
      const auto found =
          std::find_if(column.begin() + static_cast<long>(begin), column.begin() + static_cast<long>(bad), is_bad);
      bad = static_cast<std::size_t>(found - column.begin());
    }
    return bad;
  });
  if (row == kNoRow) return;
  comm.agree([&] {
    if (row < first.value || row >= first.value + n_rows) return;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const float value = columns[j][row - first.value];
      if (std::isfinite(value)) continue;
      throw_input_error(
          "row {}, column {}: the value is {}, and distances need numbers: leave the row or the column out", row,
          printable(names[j]), std::isnan(value) ? "missing (NaN)" : "infinite");
    }
  });
}

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
  check_complete(columns, table.schema().features, table.global({0}), comm, n_threads);
  check_weights(table, comm, n_threads);
  const std::vector<std::pair<float, float>> ranges = ranges_of(table, comm, n_threads);
  Spread spread;
  if (standardizes) {
    const table::Scaling scaling = table::measure_scaling(table, comm, n_threads);
    spread.units.shift = scaling.mean;
    for (const double scale : scaling.scale) spread.units.factor.push_back(1 / scale);
  } else {
    spread.units = common_units(ranges);
  }
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    const auto& [least, most] = ranges[j];
    const double shift = spread.units.shift[j];
    spread.bound.push_back(std::max(most - shift, shift - least) * spread.units.factor[j]);
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

float ScaledRows::in_units(std::size_t feature, float value) const {
  const auto scaled = static_cast<float>((double{value} - units_.shift[feature]) * units_.factor[feature]);
  return std::clamp(scaled, -kFarthest, kFarthest);
}

void ScaledRows::pack(std::span<const std::size_t> rows, float* tile) const {
  for (std::size_t j = 0; j < columns_.size(); ++j, tile += kTileRows) {
    for (std::size_t i = 0; i < rows.size(); ++i) tile[i] = in_units(j, columns_[j][rows[i]]);
    std::fill(tile + rows.size(), tile + kTileRows, 0.0F);
  }
}

void ScaledRows::pack(std::size_t begin, std::size_t end, float* tile) const {
  for (std::size_t j = 0; j < columns_.size(); ++j, tile += kTileRows) {
    const float* const column = columns_[j].data() + begin;
    for (std::size_t i = 0; i < end - begin; ++i) tile[i] = in_units(j, column[i]);
    std::fill(tile + (end - begin), tile + kTileRows, 0.0F);
  }
}

std::vector<float> ScaledRows::values(std::size_t row) const {
  std::vector<float> values;
  for (std::size_t j = 0; j < columns_.size(); ++j) values.push_back(in_units(j, columns_[j][row]));
  return values;
}

}  // namespace podere::cluster
