#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <string>

#include "podere/comm/ranks_here.h"

namespace podere::comm {
namespace {

TEST(RanksHere, AreThoseOfOneMachine) {
  const Communicator& world = Communicator::world();
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ranks_here(world), all);
  EXPECT_EQ(ranks_here(Communicator::self()), std::vector<int>{0});
}

}  // namespace
}  // namespace podere::comm
