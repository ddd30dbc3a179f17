// Global and local row numbers, row blocks, and which executor holds which rows.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace podere::table {

/// The number of a row in the whole table, whichever executor holds it.
struct GlobalRow {
  std::uint64_t value = 0;
  auto operator<=>(const GlobalRow&) const = default;
};

/// The number of a row among those that this executor holds.
struct LocalRow {
  std::size_t value = 0;
  auto operator<=>(const LocalRow&) const = default;
};

/// Rows [begin, end) by global number.
struct RowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

/// Rows of one row block, the atom of placement.
inline constexpr std::uint64_t kBlockRows = 1024;

/// The rows that executor `rank` of `n_ranks` holds of a table of `n_rows`: whole row blocks, consecutive, in rank
/// order, as even as whole blocks allow. Empty where there are more executors than blocks.
RowRange rows_of(std::uint64_t n_rows, int rank, int n_ranks);

}  // namespace podere::table
