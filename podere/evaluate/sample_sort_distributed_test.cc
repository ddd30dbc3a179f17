#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "podere/base/hash.h"
#include "podere/evaluate/sample_sort.h"

namespace podere::evaluate {
namespace {

using Lists = std::array<std::vector<Record>, 2>;

/// Rows [0, n) of two lists, keys masked; those that `rank` of `n_ranks` holds (rank 1 none), or all for -1.
Lists records_of(std::size_t n, std::uint64_t mask, int rank, int n_ranks) {
  Lists lists;
  for (std::size_t i = 0; i < n; ++i) {
    int owner = static_cast<int>(hash64(3, 3, i) % static_cast<std::uint64_t>(n_ranks));
    if (owner == 1) owner = 0;
    if (rank >= 0 && owner != rank) continue;
    lists[hash64(4, 4, i) % 3 == 0].push_back((hash64(1, 2, i) & mask) << 32 | i);
  }
  return lists;
}

TEST(SampleSort, GivesEveryRankItsRunOfTheSortedRecords) {
  const auto world = comm::Communicator::world();
  for (const std::size_t n : {0UL, 1UL, 7UL, 5003UL}) {
    for (const std::uint64_t mask : {0ULL, 0x7ULL, 0xffffffffULL}) {
      Lists mine = records_of(n, mask, world.rank(), world.size());
      Lists expected = records_of(n, mask, -1, world.size());
      sample_sort(world, mine);
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_TRUE(std::ranges::is_sorted(mine[k], {}, key_of));
        std::vector<Record> all = world.all_gather_v(std::span<const Record>(mine[k]));
        EXPECT_TRUE(std::ranges::is_sorted(all, {}, key_of));
        std::ranges::sort(all);
        std::ranges::sort(expected[k]);
        EXPECT_EQ(all, expected[k]);
      }
      // Keys of all lists on one rank lie above all keys on the rank before.
      std::int64_t least = std::int64_t{1} << 32, largest = -1;
      for (const auto& list : mine) {
        if (list.empty()) continue;
        least = std::min(least, std::int64_t{key_of(list.front())});
        largest = std::max(largest, std::int64_t{key_of(list.back())});
      }
      const auto all_least = world.all_gather(least);
      const auto all_largest = world.all_gather(largest);
      std::int64_t below = -1;
      for (std::size_t r = 0; r < all_least.size(); ++r) {
        EXPECT_GT(all_least[r], below);
        below = std::max(below, all_largest[r]);
      }
    }
  }
}

TEST(SampleSort, SpreadsDistinctKeysAboutEvenly) {
  const auto world = comm::Communicator::world();
  constexpr std::size_t kRecords = 100003;
  Lists mine = records_of(kRecords, 0xffffffffULL, world.rank(), world.size());
  sample_sort(world, mine);
  EXPECT_LT(mine[0].size() + mine[1].size(), kRecords / static_cast<std::size_t>(world.size()) * 5 / 4 + 1000);
}

}  // namespace
}  // namespace podere::evaluate
