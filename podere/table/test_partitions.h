// Tables for the tests of what ranks do together: every value follows from its global row.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/hash.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// All ranks of the test.
inline const comm::Communicator& world() {
  static const auto group = comm::Communicator::world();
  return group;
}

/// The value of a column in a global row: now and then NaN, or -0.
inline float value_in(std::uint64_t row, std::size_t column) {
  const std::uint64_t bits = hash64(3, column, row);
  if (bits % 11 == 0) return std::numeric_limits<float>::quiet_NaN();
  return bits % 13 == 0 ? -0.0F : static_cast<float>(uniform01(bits) * 100 - 30);
}

inline Schema schema_of_partitions() {
  return {.features = {"a", "b", "c"}, .label = "y", .weight = "w", .categories = {{1, {{"red", "white"}}}}};
}

/// The part of a table of `n` rows that rank `rank` holds: uneven runs, not of whole row blocks, and nothing on rank 1.
inline Table uneven_partition(std::uint64_t n, int rank, int n_ranks) {
  const auto cut = [&](int r) {
    const auto squares = [](int i) { return static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(i); };
    return r >= n_ranks ? n : n * squares(r) / squares(n_ranks);
  };
  const RowRange rows = rank == 1   ? RowRange{cut(2), cut(2)}
                        : rank == 0 ? RowRange{0, cut(2)}
                                    : RowRange{cut(rank), cut(rank + 1)};
  Table table(schema_of_partitions(), n, rows);
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) table.column(j)[i] = value_in(rows.begin + i, j);
  }
  return table;
}

/// The bits of a column of the whole table, on all ranks. Checks that each rank holds its rows_of() it. Collective.
inline std::vector<std::uint32_t> gathered_bits(const Table& table, std::size_t column,
                                                const comm::Communicator& comm) {
  EXPECT_EQ(table.rows(), rows_of(table.n_global_rows(), comm.rank(), comm.size()));
  std::vector<std::uint32_t> bits;
  for (const float value : table.column(column)) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return comm.all_gather_v<std::uint32_t>(bits);
}

}  // namespace podere::table
