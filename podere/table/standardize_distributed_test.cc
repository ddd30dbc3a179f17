#include <gtest/gtest.h>

#include "podere/table/standardize.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

TEST(StandardizeDistributed, BitsDoNotDependOnRanksAndThreads) {
  const auto world = comm::Communicator::world();
  for (const std::uint64_t n : {0ULL, 1ULL, 5ULL, 100003ULL}) {
    const Scaling expected = measure_scaling(uneven_partition(n, 0, 1), comm::Communicator::self(), 1);
    for (const int n_threads : {1, 3}) {
      Table mine = uneven_partition(n, world.rank(), world.size());
      EXPECT_EQ(measure_scaling(mine, world, n_threads), expected) << n << " rows";
    }
  }
}

}  // namespace
}  // namespace podere::table
