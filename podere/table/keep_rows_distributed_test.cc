#include <gtest/gtest.h>

#include <functional>

#include "podere/base/error.h"
#include "podere/table/keep_rows.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

void expect_kept(std::uint64_t n, const std::function<bool(std::uint64_t)>& is_kept) {
  const Table table = uneven_partition(n, world().rank(), world().size());
  ASSERT_TRUE(world().rank() != 1 || table.n_rows() == 0);
  std::vector<std::uint8_t> kept;
  for (std::size_t i = 0; i < table.n_rows(); ++i) kept.push_back(is_kept(table.global({i}).value) ? 7 : 0);
  for (const int n_threads : {1, 3}) {
    const Table result = keep_rows(table, kept, world(), n_threads);
    EXPECT_EQ(result.schema(), table.schema());
    for (std::size_t j = 0; j < table.n_columns(); ++j) {
      std::vector<std::uint32_t> expected;
      for (std::uint64_t row = 0; row < n; ++row) {
        if (is_kept(row)) expected.push_back(std::bit_cast<std::uint32_t>(value_in(row, j)));
      }
      EXPECT_EQ(result.n_global_rows(), expected.size());
      EXPECT_EQ(gathered_bits(result, j, world()), expected) << n << " rows, column " << j;
    }
  }
}

TEST(KeepRowsDistributed, RowsKeepTheirOrderAndLieInWholeBlocksOnAnyNumberOfRanks) {
  for (const std::uint64_t n : {1ULL, 2ULL, 1023ULL, 6001ULL, 300007ULL}) {
    expect_kept(n, [](std::uint64_t row) { return hash64(1, 0, row) % 3 == 0; });
    expect_kept(n, [&](std::uint64_t row) { return row < n / 2; });
    expect_kept(n, [&](std::uint64_t row) { return row > n - n / 5; });
  }
}

TEST(KeepRowsDistributed, NoneOrAllMayBeKept) {
  for (const std::uint64_t n : {0ULL, 1ULL, 5000ULL}) {
    expect_kept(n, [](std::uint64_t) { return false; });
    expect_kept(n, [](std::uint64_t) { return true; });
  }
}

TEST(KeepRowsDistributed, TheFirstRanksMayHoldAll) {
  const std::uint64_t n = 6001;
  const Table table = uneven_partition(n, world().rank(), world().size());
  const std::vector<std::uint8_t> all(table.n_rows(), 1);
  for (int n_holders = 1; n_holders <= world().size(); ++n_holders) {
    const Table result = keep_rows(table, all, world(), 2, n_holders);
    const RowRange expected = world().rank() < n_holders ? rows_of(n, world().rank(), n_holders) : RowRange{n, n};
    EXPECT_EQ(result.rows(), expected);
    EXPECT_EQ(result.n_global_rows(), n);
    for (std::size_t j = 0; j < result.n_columns(); ++j) {
      for (std::size_t i = 0; i < result.n_rows(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(result.column(j)[i]),
                  std::bit_cast<std::uint32_t>(value_in(expected.begin + i, j)));
      }
    }
  }
}

TEST(KeepRowsDistributed, ColumnsGoOneByOneWhereTheyAreLong) {
  const std::uint64_t n = 3'000'000;
  const RowRange rows = rows_of(n, world().rank(), world().size());
  Table table({.features = {"x"}, .label = "y"}, n, rows);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    table.feature(0)[i] = static_cast<float>(rows.begin + i);
    table.label()[i] = -static_cast<float>(rows.begin + i);
  }
  std::vector<std::uint8_t> kept(table.n_rows());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = (rows.begin + i) % 3 != 1;
  const Table result = keep_rows(table, kept, world(), 2);
  EXPECT_EQ(result.rows(), rows_of(n / 3 * 2, world().rank(), world().size()));
  for (std::size_t i = 0; i < result.n_rows(); ++i) {
    const std::uint64_t row = result.global({i}).value;
    const auto old_row = static_cast<float>(row / 2 * 3 + row % 2 * 2);
    ASSERT_EQ(result.feature(0)[i], old_row);
    ASSERT_EQ(result.label()[i], -old_row);
  }
}

TEST(KeepRowsDistributed, MarksThatAreNotOnePerRowAreRefusedOnAllRanks) {
  const Table table = uneven_partition(100, world().rank(), world().size());
  std::vector<std::uint8_t> kept(table.n_rows() + (world().rank() == world().size() - 1 ? 1 : 0));
  EXPECT_THROW(keep_rows(table, kept, world(), 1), InputError);
}

}  // namespace
}  // namespace podere::table
