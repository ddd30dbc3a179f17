#include <gtest/gtest.h>

#include <algorithm>

#include "podere/farm/explain.h"
#include "podere/farm/policy.h"
#include "podere/farm/test_cluster.h"

namespace podere::farm {
namespace {

using ReclaimedFrom = std::map<std::string, int>;

/// Twelve rooms, all borrowed: by three farms of priorities 0, 0 and 5, of which each is guaranteed one.
struct RankedCluster : TestCluster {
  RankedCluster() {
    for (const char* const name : {"a/low", "b/low", "c/high"}) {
      const auto node = add_node(4);
      const auto farm = add_farm(name, 1, 4);
      add_pods(farm, 4, node);
    }
    state.farms[2].priority = 5;
  }
};

TEST(Priorities, OrderWhoLosesForAGuarantee) {
  RankedCluster cluster;
  const auto needy = cluster.add_farm("d/needy", 6, 6);
  cluster.state.farms[needy].priority = -1;
  EXPECT_EQ(reclaimed_from(cluster.state, cluster.decide()), (ReclaimedFrom{{"a/low", 3}, {"b/low", 3}}));
  cluster.state.farms[needy].guaranteed = cluster.state.farms[needy].wanted = 8;
  EXPECT_EQ(reclaimed_from(cluster.state, cluster.decide()), (ReclaimedFrom{{"a/low", 3}, {"b/low", 3}, {"c/high", 2}}))
      << "a guarantee is as strong whatever the priority";
}

TEST(Priorities, OrderWhoBorrowsInAllModes) {
  for (const Mode mode : {Mode::kProportional, Mode::kFairShare}) {
    RankedCluster cluster;
    cluster.state.farms[2].wanted = 20;
    const Decision decision = cluster.decide({.mode = mode});
    EXPECT_EQ(reclaimed_from(cluster.state, decision), (ReclaimedFrom{{"a/low", 3}, {"b/low", 3}}))
        << "and no farm's guarantee";
    ASSERT_EQ(decision.reclaims.size(), 6U);
    EXPECT_FALSE(decision.reclaims[0].for_guarantee);
    EXPECT_TRUE(decision.creations.empty()) << "executors are made when the room is free";
    EXPECT_EQ(sentences(cluster.state, decision)[2],
              "4 of 20 executors running. 6 pending: reclaiming from a/low (3) and b/low (3), done within 60 s. 10 "
              "pending: no room");
    EXPECT_EQ(reason(cluster.state, decision, decision.reclaims[0]),
              "c/high of priority 5 runs 4 of 20 executors; a/low of priority 0 keeps 1, guaranteed 1");
    cluster.reclaim(decision);
    EXPECT_TRUE(cluster.decide({.mode = mode}).reclaims.empty());
    std::erase_if(cluster.state.pods, [](const Pod& pod) { return pod.is_reclaimed; });
    const Decision next = cluster.decide({.mode = mode});
    EXPECT_EQ(next.creations.size(), 6U);
    EXPECT_TRUE(std::ranges::all_of(next.creations, [](const Creation& creation) { return creation.farm == 2; }));
  }
}

TEST(Priorities, OfEqualsReclaimNothing) {
  RankedCluster cluster;
  cluster.state.farms[0].wanted = 20;
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  for (Farm& farm : cluster.state.farms) farm.priority = 7;
  EXPECT_TRUE(cluster.decide().reclaims.empty());
}

TEST(Priorities, HoldRoomThatIsFreedByHalves) {
  TestCluster cluster;
  const auto node = cluster.add_node(4);
  const auto low = cluster.add_farm("low", 0, 4);
  cluster.add_pods(low, 4, node);
  const auto high = cluster.add_farm("high", 0, 1, cluster.add_shape(4));
  cluster.state.farms[high].priority = 1;
  const Decision first = cluster.decide();
  EXPECT_EQ(first.reclaims.size(), 4U);
  cluster.reclaim(first);
  cluster.state.pods.erase(cluster.state.pods.begin(), cluster.state.pods.begin() + 2);
  const Decision second = cluster.decide();
  EXPECT_TRUE(second.reclaims.empty() && second.creations.empty()) << "none of the farm that gave the room";
  cluster.state.pods.clear();
  const Decision third = cluster.decide();
  ASSERT_EQ(third.creations.size(), 1U);
  EXPECT_EQ(third.creations[0].farm, high);
}

}  // namespace
}  // namespace podere::farm
