#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "podere/table/permute.h"

namespace podere::table {
namespace {

float value_of(std::uint64_t row) {
  return row % 7 == 3 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(row) / 8;
}

/// A table of which rank `rank` of `n_ranks` holds uneven runs, and rank 1 nothing.
Table part_of(std::uint64_t n, int rank, int n_ranks) {
  const auto cut = [&](int r) {
    if (r >= n_ranks) return n;
    return r == 2 ? n / static_cast<std::uint64_t>(n_ranks)
                  : n * static_cast<std::uint64_t>(r * r) / static_cast<std::uint64_t>(n_ranks * n_ranks);
  };
  const std::uint64_t begin = rank == 1 ? cut(2) : cut(rank);
  const std::uint64_t end = rank == 0 ? cut(n_ranks == 1 ? 1 : 2) : rank == 1 ? cut(2) : cut(rank + 1);
  Table table({.features = {"x"}}, n, {begin, end});
  for (std::size_t i = 0; i < table.n_rows(); ++i) table.feature(0)[i] = value_of(table.global({i}).value);
  return table;
}

TEST(PermuteDistributed, EveryValueArrivesWhereThePermutationSendsItOnAnyNumberOfRanks) {
  const auto world = comm::Communicator::world();
  for (const std::uint64_t n : {1ULL, 2ULL, 9ULL, 1003ULL, 50011ULL}) {
    const Permutation permutation(n, n + 5);
    std::vector<float> expected(n);
    for (std::uint64_t i = 0; i < n; ++i) expected[permutation(i)] = value_of(i);

    const Table table = part_of(n, world.rank(), world.size());
    ASSERT_TRUE(world.rank() != 1 || table.n_rows() == 0);
    for (const int n_threads : {1, 3}) {
      const std::vector<float> mine = permute(table.feature(0), table, permutation, world, n_threads);
      const std::vector<float> all = world.all_gather_v(std::span<const float>(mine));
      ASSERT_EQ(all.size(), n);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(all[i] == expected[i] || (std::isnan(all[i]) && std::isnan(expected[i]))) << "row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace podere::table
