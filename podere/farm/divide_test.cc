#include "podere/farm/divide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "podere/base/hash.h"

namespace podere::farm {
namespace {

/// One pool, of which each executor uses one.
std::vector<std::int32_t> divided(const std::vector<Claim>& claims, int room) {
  const PoolCosts cost = {{0, 1.0}};
  const std::vector<const PoolCosts*> costs(claims.size(), &cost);
  Pools pools{{static_cast<double>(room)}, {static_cast<double>(room)}};
  return divide(claims, costs, pools);
}

TEST(Divide, MeetsClaimsBelowAnEqualShare) {
  EXPECT_EQ(divided({{0, 2, 1}, {0, 100, 1}, {0, 100'000, 1}}, 10), (std::vector<std::int32_t>{2, 4, 4}));
  EXPECT_EQ(divided({{0, 2, 1}, {0, 3, 1}}, 10), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(divided({{0, 9, 1}, {0, 9, 3}}, 8), (std::vector<std::int32_t>{2, 6})) << "by their speeds";
}

TEST(Divide, GivesAGroupWhatOneClaimAloneWouldHave) {
  EXPECT_EQ(divided({{0, 100, 1}, {0, 1, 1, 7}, {0, 2, 1, 7}, {0, 50, 1, 7}}, 20),
            (std::vector<std::int32_t>{10, 1, 2, 7}));
  EXPECT_EQ(divided({{0, 4, 1}, {0, 100, 1, 7}, {0, 100, 1, 7}}, 20), (std::vector<std::int32_t>{4, 8, 8}));
}

/// The level up to which each group has what it asks for, and in it each claim, found by halving.
double level_of(const std::vector<double>& most, double room) {
  double low = 0;
  double high = 1e7;
  for (int i = 0; i < 100; ++i) {
    const double level = (low + high) / 2;
    const double used = std::accumulate(most.begin(), most.end(), 0.0,
                                        [&](double sum, double claim) { return sum + std::min(claim, level); });
    (used < room ? low : high) = level;
  }
  return high;
}

TEST(Divide, IsMaxMinFairAmongGroupsAndInThem) {
  RandomSequence random(1, 0, 0);
  for (int round = 0; round < 500; ++round) {
    std::vector<Claim> claims(1 + static_cast<std::size_t>(12 * random.uniform()));
    std::map<std::int32_t, std::vector<double>> groups;
    for (Claim& claim : claims) {
      claim = {0, static_cast<std::int32_t>(random.uniform() < 0.2 ? 100'000 : 20 * random.uniform()), 1,
               static_cast<std::int32_t>(4 * random.uniform())};
      groups[claim.group].push_back(claim.most);
    }
    const int room = static_cast<int>(60 * random.uniform());
    std::vector<double> of_groups;
    for (const auto& [group, most] : groups) of_groups.push_back(std::accumulate(most.begin(), most.end(), 0.0));
    const double level = level_of(of_groups, room);
    const std::vector<std::int32_t> parts = divided(claims, room);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const std::vector<double>& most = groups[claims[i].group];
      const double of_group = std::min(level, std::accumulate(most.begin(), most.end(), 0.0));
      const double fair = std::min<double>(claims[i].most, level_of(most, of_group));
      EXPECT_LT(std::abs(parts[i] - fair), 1) << "round " << round << ", claim " << i;
    }
    const double asked = std::accumulate(of_groups.begin(), of_groups.end(), 0.0);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), std::min<double>(asked, room)) << "round " << round;
  }
}

TEST(Divide, LetsClaimsOfAGroupThatNeedNoFullPoolHaveMore) {
  const PoolCosts first = {{0, 1.0}};
  const PoolCosts both = {{0, 1.0}, {1, 1.0}};
  const std::vector<const PoolCosts*> costs = {&both, &first, &first};
  Pools pools{{12, 1}, {12, 1}};
  EXPECT_EQ(divide(std::vector<Claim>{{0, 9, 1, 1}, {0, 9, 1, 1}, {0, 9, 1}}, costs, pools),
            (std::vector<std::int32_t>{1, 5, 6}));
  EXPECT_NEAR(pools.left[0], 0, 1e-9);
}

}  // namespace
}  // namespace podere::farm
