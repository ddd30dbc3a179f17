#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "podere/table/gather_rows.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

TEST(GatherRowsDistributed, EveryRankHoldsAllRowsInTheirOrder) {
  for (const std::uint64_t n : {0ULL, 1ULL, 1023ULL, 6001ULL}) {
    const Table whole = gather_rows(uneven_partition(n, world().rank(), world().size()), world());
    EXPECT_EQ(whole.schema(), schema_of_partitions());
    EXPECT_EQ(whole.rows(), (RowRange{0, n}));
    for (std::size_t j = 0; j < whole.n_columns(); ++j) {
      for (std::uint64_t row = 0; row < n; ++row) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(whole.column(j)[row]), std::bit_cast<std::uint32_t>(value_in(row, j)));
      }
    }
  }
}

}  // namespace
}  // namespace podere::table
