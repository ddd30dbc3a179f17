#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "podere/base/hash.h"
#include "podere/table/describe.h"

namespace podere::table {
namespace {

/// The value of a cell of a table that has everything: plain, missing, infinite, constant and all-missing columns,
/// zeros of both signs.
float cell(std::uint64_t row, std::size_t column) {
  RandomSequence random(9, column, row);
  const double u = random.uniform();
  switch (column) {
    case 0:
      return static_cast<float>(std::ldexp(u - 0.5, static_cast<int>(random.next() % 100) - 50));
    case 1:
      return u < 0.3 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(u);
    case 2:
      return u < 0.01 ? -std::numeric_limits<float>::infinity() : static_cast<float>(u * u * 1e30);
    case 3:
      return 7;
    case 4:
      return std::numeric_limits<float>::quiet_NaN();
    default:
      return u < 0.5 ? -0.0F : 0.0F;
  }
}
constexpr std::size_t kColumns = 6;

Table table_of(std::uint64_t n_rows, RowRange rows) {
  Table table({{"a", "b", "c", "d"}, "y", "w"}, n_rows, rows);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) table.feature(j)[i] = cell(rows.begin + i, j);
    table.label()[i] = cell(rows.begin + i, 4);
    table.weight()[i] = cell(rows.begin + i, 5);
  }
  return table;
}

TEST(DescribeDistributed, HasTheBitsThatOneRankFinds) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  // 1025 rows are two blocks: some ranks are empty.
  for (const std::uint64_t n_rows : {0ULL, 1ULL, 1025ULL, 20011ULL}) {
    const auto found = describe(table_of(n_rows, rows_of(n_rows, world.rank(), world.size())), world, 2);
    const auto expected = describe(table_of(n_rows, {0, n_rows}), self, 1);
    ASSERT_EQ(found.size(), kColumns);
    for (std::size_t j = 0; j < kColumns; ++j) {
      const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
      EXPECT_EQ(found[j].name, expected[j].name);
      EXPECT_EQ(bits(found[j].minimum), bits(expected[j].minimum));
      EXPECT_EQ(bits(found[j].mean), bits(expected[j].mean));
      EXPECT_EQ(bits(found[j].maximum), bits(expected[j].maximum));
      EXPECT_EQ(found[j].n_rows, expected[j].n_rows);
      EXPECT_EQ(found[j].n_missing, expected[j].n_missing);
      EXPECT_EQ(found[j].n_infinite, expected[j].n_infinite);
      EXPECT_EQ(found[j].histogram, expected[j].histogram);
    }
  }
}

}  // namespace
}  // namespace podere::table
