#include <gtest/gtest.h>

#include "podere/table/class_histograms.h"
#include "podere/table/test_partitions.h"

namespace podere::table {
namespace {

/// Of test_partitions.h, with labels 0, 1, 2 and weights that are there.
Table classes_in_partition(std::uint64_t n, int rank, int n_ranks) {
  Table table = uneven_partition(n, rank, n_ranks);
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const std::uint64_t row = table.rows().begin + i;
    table.label()[i] = static_cast<float>(row % 3);
    table.weight()[i] = static_cast<float>(row % 7) - 1;
    table.feature(1)[i] = static_cast<float>(row % 2);
  }
  return table;
}

TEST(ClassHistogramsDistributed, AreThoseOfOneRank) {
  const auto world = comm::Communicator::world();
  const auto self = comm::Communicator::self();
  const std::vector<std::size_t> features = {2, 0, 1};
  for (const std::uint64_t n : {0ULL, 1ULL, 50ULL, 30000ULL}) {
    const auto whole = class_histograms(classes_in_partition(n, 0, 1), features, 2, 10, self, 1);
    for (const int n_threads : {1, 3}) {
      const auto found =
          class_histograms(classes_in_partition(n, world.rank(), world.size()), features, 2, 10, world, n_threads);
      ASSERT_EQ(found.size(), features.size());
      for (std::size_t k = 0; k < features.size(); ++k) {
        EXPECT_EQ(found[k].low, whole[k].low);
        EXPECT_EQ(found[k].high, whole[k].high);
        EXPECT_EQ(found[k].weights, whole[k].weights);
        EXPECT_EQ(found[k].below, whole[k].below);
        EXPECT_EQ(found[k].above, whole[k].above);
        EXPECT_EQ(found[k].missing, whole[k].missing);
      }
    }
  }
}

}  // namespace
}  // namespace podere::table
