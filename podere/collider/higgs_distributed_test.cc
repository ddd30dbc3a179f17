#include <gtest/gtest.h>

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

}  // namespace
}  // namespace podere::collider
