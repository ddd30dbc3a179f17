#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/io/distributed_reference.h"
#include "podere/io/join_partitions.h"

namespace podere::io {
namespace {

const table::Schema& joined_schema() {
  static const table::Schema schema = {.features = {"a", "b", "c"}, .label = "y", .weight = "w"};
  return schema;
}

float value_of(std::size_t partition, std::uint64_t place, std::size_t column) {
  return static_cast<float>(partition * 100'000 + place * 7 + column);
}

/// Partition p in pieces of different lengths.
Partition partition_of(std::size_t p, std::uint64_t n_rows) {
  Partition partition;
  for (std::uint64_t begin = 0, n = 1; begin < n_rows; begin += n, n = 1 + (begin * 5 + p) % 400) {
    n = std::min(n, n_rows - begin);
    table::Table piece(joined_schema(), begin + n, {begin, begin + n});
    for (std::size_t j = 0; j < piece.n_columns(); ++j) {
      for (std::size_t i = 0; i < n; ++i) piece.column(j)[i] = value_of(p, begin + i, j);
    }
    partition.push_back(std::move(piece));
  }
  return partition;
}

Partitions partitions_here(const std::vector<std::uint64_t>& n_rows) {
  Partitions partitions;
  for (auto p = static_cast<std::size_t>(world().rank()); p < n_rows.size();
       p += static_cast<std::size_t>(world().size())) {
    if (n_rows[p] > 0) partitions.emplace(static_cast<std::uint32_t>(p), partition_of(p, n_rows[p]));
  }
  return partitions;
}

void expect_in_order(const std::vector<std::uint64_t>& n_rows) {
  for (const int n_threads : {1, 3, 1 + world().rank()}) {
    const table::Table table = join_partitions(joined_schema(), partitions_here(n_rows), n_rows, world(), n_threads);
    EXPECT_EQ(table.rows(), table::rows_of(table.n_global_rows(), world().rank(), world().size()));
    std::uint64_t row = 0;
    std::size_t n_wrong = 0;
    for (std::size_t p = 0; p < n_rows.size(); ++p) {
      for (std::uint64_t place = 0; place < n_rows[p]; ++place, ++row) {
        if (row < table.rows().begin || row >= table.rows().end) continue;
        for (std::size_t j = 0; j < table.n_columns(); ++j) {
          n_wrong += table.column(j)[row - table.rows().begin] != value_of(p, place, j) ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(row, table.n_global_rows());
    EXPECT_EQ(n_wrong, 0U);
  }
}

TEST(JoinPartitionsDistributed, RowsStandByPartitionAndPlace) {
  expect_in_order({3000, 0, 1, 5000, 1024, 0, 777, 2048, 12});
  expect_in_order({0, 0, 0, 0, 0, 4000});  // of one rank alone
  expect_in_order({1});
  expect_in_order(std::vector<std::uint64_t>(300, 17));
  expect_in_order({1'500'000, 1'500'000});  // more than goes at once
}

TEST(JoinPartitionsDistributed, PartitionsThatLackAreNamedOnEveryRank) {
  const std::vector<std::uint64_t> n_rows = {10, 20, 30, 40};
  Partitions partitions = partitions_here(n_rows);
  partitions.erase(2);
  try {
    join_partitions(joined_schema(), std::move(partitions), n_rows, world(), 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "1 partition has not arrived whole: 2; send the table again");
  }
}

TEST(JoinPartitionsDistributed, PartitionsOfAnotherLengthAreNamed) {
  const std::vector<std::uint64_t> sent = {10, 20, 30}, counted = {10, 21, 30};
  try {
    join_partitions(joined_schema(), partitions_here(sent), counted, world(), 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "1 partition has not arrived whole: 1; send the table again");
  }
}

}  // namespace
}  // namespace podere::io
