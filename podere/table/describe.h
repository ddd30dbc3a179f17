// What the columns of a table hold, in a few numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

inline constexpr std::size_t kHistogramBins = 16;
/// Different values are counted up to here.
inline constexpr std::size_t kMostDifferent = 1000;

/// A column of the whole table. Minimum, mean, maximum and histogram are of its finite values.
struct ColumnSummary {
  std::string name;
  double minimum = 0;  ///< NaN, as are mean and maximum, where no value is finite
  double mean = 0;     ///< of the exact sum
  double maximum = 0;
  std::uint64_t n_rows = 0;
  std::uint64_t n_missing = 0;
  std::uint64_t n_infinite = 0;
  std::size_t n_different = 0;  ///< values that are not missing; kMostDifferent + 1 if there are more
  /// Counts in bins of equal width from minimum to maximum, each with its lower edge, the last with both. All in the
  /// first bin where the values are all equal.
  std::array<std::uint64_t, kHistogramBins> histogram{};

  double missing_share() const {
    return n_rows == 0 ? 0 : static_cast<double>(n_missing) / static_cast<double>(n_rows);
  }
};

/// Features in their order, then label and weight if there are such. Collective; the same bits on every rank, for any
/// number of ranks and threads. Six all_reduces, of about 700 bytes a column together, and an all_gather_v of at
/// most kMostDifferent + 1 values of each column of each rank.
std::vector<ColumnSummary> describe(const Table& table, const comm::Communicator& comm, int n_threads);

}  // namespace podere::table
