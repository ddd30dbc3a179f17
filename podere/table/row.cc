#include "podere/table/row.h"

#include <algorithm>

namespace podere::table {

RowRange rows_of(std::uint64_t n_rows, int rank, int n_ranks) {
  const std::uint64_t n_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
  const auto ranks = static_cast<std::uint64_t>(n_ranks);
  const auto first_block = [&](std::uint64_t r) { return n_blocks / ranks * r + std::min(r, n_blocks % ranks); };
  const auto r = static_cast<std::uint64_t>(rank);
  return {std::min(n_rows, first_block(r) * kBlockRows), std::min(n_rows, first_block(r + 1) * kBlockRows)};
}

}  // namespace podere::table
