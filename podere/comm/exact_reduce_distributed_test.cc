#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "podere/base/hash.h"
#include "podere/comm/exact_reduce.h"

namespace podere::comm {
namespace {

std::vector<std::int64_t> words_of(ExactSum sum) { return {sum.words().begin(), sum.words().end()}; }

TEST(ExactReduce, GivesTheSumThatOneRankWouldHaveFound) {
  const auto world = Communicator::world();
  std::vector<ExactSum> mine(3), all(3);
  for (std::uint64_t i = 0; i < 10007; ++i) {
    RandomSequence random(7, 0, i);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const double x = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.next() % 600) - 300);
      all[k].add(x);
      // The last rank has none when there are several.
      const int owner = static_cast<int>(i % static_cast<std::uint64_t>(std::max(1, world.size() - 1)));
      if (owner == world.rank()) mine[k].add(x);
    }
  }
  all_reduce(world, mine);
  for (std::size_t k = 0; k < mine.size(); ++k) EXPECT_EQ(words_of(mine[k]), words_of(all[k]));
}

TEST(ExactReduce, CarriesNaNAndInfinityFromOneRankToAll) {
  const auto world = Communicator::world();
  std::vector<ExactSum> sums(3);
  if (world.is_root()) sums[0].add(std::numeric_limits<double>::quiet_NaN());
  if (world.rank() == world.size() - 1) sums[1].add(-std::numeric_limits<double>::infinity());
  sums[2].add(0x1p-1074);
  all_reduce(world, sums);
  EXPECT_TRUE(std::isnan(sums[0].value()));
  EXPECT_EQ(sums[1].value(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(sums[2].value(), world.size() * 0x1p-1074);
}

}  // namespace
}  // namespace podere::comm
