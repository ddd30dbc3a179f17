#include <gtest/gtest.h>

#include <bit>
#include <utility>

#include "podere/table/fingerprint.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

Table table_of_parts(std::uint64_t n_rows, RowRange rows) {
  Table table(schema_of_partitions(), n_rows, rows);
  for (std::size_t j = 0; j < table.n_columns(); ++j) {
    for (std::size_t i = 0; i < table.n_rows(); ++i) table.column(j)[i] = value_in(rows.begin + i, j);
  }
  return table;
}

TEST(FingerprintDistributed, IsThatOfOneRankAndOneThread) {
  const auto world = comm::Communicator::world();
  // 1025 rows are two blocks: some ranks are empty.
  for (const std::uint64_t n_rows : {0ULL, 1ULL, 1024ULL, 1025ULL, 200'011ULL}) {
    const auto found = fingerprint(table_of_parts(n_rows, rows_of(n_rows, world.rank(), world.size())), world, 3);
    EXPECT_EQ(found, fingerprint(table_of_parts(n_rows, {0, n_rows}), comm::Communicator::self(), 1)) << n_rows;
  }
}

TEST(FingerprintDistributed, ChangesWithEveryBitAndWithThePlaces) {
  const auto self = comm::Communicator::self();
  Table table = table_of_parts(2500, {0, 2500});
  const std::uint64_t before = fingerprint(table, self, 1);
  for (std::size_t column = 0; column < table.n_columns(); ++column) {
    for (const std::size_t row : {0U, 1023U, 1024U, 2499U}) {
      float& value = table.column(column)[row];
      for (int bit = 0; bit < 32; bit += 3) {
        const float kept = value;
        value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << bit));
        EXPECT_NE(fingerprint(table, self, 1), before) << column << ' ' << row << ' ' << bit;
        value = kept;
      }
      float& other = table.column((column + 1) % table.n_columns())[row];
      if (std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(other)) continue;
      std::swap(value, other);
      EXPECT_NE(fingerprint(table, self, 1), before) << column << ' ' << row;
      std::swap(value, other);
    }
  }
  EXPECT_EQ(fingerprint(table, self, 1), before);
}

}  // namespace
}  // namespace podere::table
