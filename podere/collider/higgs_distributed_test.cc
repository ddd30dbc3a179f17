#include <gtest/gtest.h>

#include <algorithm>

#include "podere/collider/higgs.h"

namespace podere::collider {
namespace {

// 3,500 events are four row blocks: with five ranks one has none.
TEST(HiggsDistributed, RanksMakeTheRowsOfOneAndTheSameTable) {
  const auto world = comm::Communicator::world();
  constexpr std::uint64_t kFirst = 70'000;
  constexpr std::uint64_t kEvents = 3'500;
  for (const int n_threads : {1, 3}) {
    const auto table = generate_table(9, kFirst, kFirst + kEvents, world, n_threads);
    EXPECT_EQ(table.n_global_rows(), kEvents);
    EXPECT_EQ(table.rows(), table::rows_of(kEvents, world.rank(), world.size()));
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const auto column = world.all_gather_v(std::span<const float>(std::as_const(table).feature(j)));
      ASSERT_EQ(column.size(), kEvents);
      for (std::uint64_t i = 0; i < kEvents; i += 97) {
        ASSERT_EQ(column[i], generate_event(9, kFirst + i).features[j]) << i;
      }
    }
  }
}

TEST(HiggsDistributed, RowsThatAreNotHeldAreThoseThatAre) {
  const auto world = comm::Communicator::world();
  const auto table = generate_table(9, 70'000, 73'500, world, 1);
  const auto rows = generate_rows(9, 70'000, 73'500, world, 2, 1);
  EXPECT_EQ(rows.schema(), table.schema());
  EXPECT_EQ(rows.labels().n_global_rows(), table.n_global_rows());
  std::uint64_t n_rows = 0;
  rows.for_each_window([&](const table::Table& window) {
    const std::uint64_t offset = window.rows().begin - table.rows().begin;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      EXPECT_TRUE(std::ranges::equal(window.feature(j), table.feature(j).subspan(offset, window.n_rows())));
    }
    n_rows += window.n_rows();
  });
  EXPECT_EQ(n_rows, table.n_rows());
  EXPECT_TRUE(std::ranges::equal(rows.labels().label(), table.label()));
}

}  // namespace
}  // namespace podere::collider
