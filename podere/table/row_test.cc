#include "podere/table/row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace podere::table {
namespace {

TEST(RowsOf, CoversAllRowsOnceInRankOrderByWholeBlocks) {
  for (const std::uint64_t n_rows :
       {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 5000ULL, 65536ULL, 1000003ULL, 1ULL << 40, (1ULL << 40) + 1}) {
    for (const int n_ranks : {1, 2, 3, 5, 8, 17, 1000}) {
      std::uint64_t end = 0;
      for (int rank = 0; rank < n_ranks; ++rank) {
        const RowRange rows = rows_of(n_rows, rank, n_ranks);
        ASSERT_EQ(rows.begin, end);
        ASSERT_LE(rows.begin, rows.end);
        // Empty ranges stand at the end of the table.
        ASSERT_TRUE(rows.begin % kBlockRows == 0 || rows.begin == n_rows);
        end = rows.end;
      }
      EXPECT_EQ(end, n_rows);
    }
  }
}

TEST(RowsOf, SpreadsBlocksAsEvenlyAsWholeBlocksAllow) {
  for (const std::uint64_t n_blocks : {1ULL, 4ULL, 5ULL, 12ULL, 97ULL}) {
    for (const int n_ranks : {1, 2, 3, 5, 8}) {
      std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
      std::uint64_t most = 0;
      for (int rank = 0; rank < n_ranks; ++rank) {
        const std::uint64_t size = rows_of(n_blocks * kBlockRows, rank, n_ranks).size();
        EXPECT_EQ(size % kBlockRows, 0U);
        least = std::min(least, size / kBlockRows);
        most = std::max(most, size / kBlockRows);
      }
      EXPECT_LE(most - least, 1U) << n_blocks << " blocks, " << n_ranks << " ranks";
    }
  }
}

TEST(RowsOf, GivesNothingToRanksBeyondTheLastBlock) {
  EXPECT_EQ(rows_of(10, 0, 3), (RowRange{0, 10}));
  EXPECT_EQ(rows_of(10, 1, 3).size(), 0U);
  EXPECT_EQ(rows_of(10, 2, 3).size(), 0U);
}

}  // namespace
}  // namespace podere::table
