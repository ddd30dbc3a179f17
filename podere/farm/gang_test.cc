#include "podere/farm/gang.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/farm/explain.h"
#include "podere/farm/history.h"
#include "podere/farm/test_cluster.h"

namespace podere::farm {
namespace {

struct GangCluster : TestCluster {
  std::int32_t add_gang(const std::string& key, int guaranteed, int wanted) {
    const std::int32_t farm = add_farm(key, guaranteed, wanted);
    state.farms[static_cast<std::size_t>(farm)].is_gang = true;
    return farm;
  }
  Farm& farm(std::int32_t index) { return state.farms[static_cast<std::size_t>(index)]; }
  std::string sentence(std::int32_t farm) const { return sentences(state, decide())[static_cast<std::size_t>(farm)]; }
  /// Executors that are made of each farm, now or when all of its gang have room.
  std::map<std::string, int> made(const Policy& policy = {}) const {
    std::map<std::string, int> made;
    for (const Creation& creation : decide(policy).creations)
      ++made[state.farms[static_cast<std::size_t>(creation.farm)].key];
    return made;
  }
};

using Made = std::map<std::string, int>;

TEST(Gang, HasNoneWhereOneHasNoRoom) {
  GangCluster cluster;
  cluster.add_node(7);
  const auto gang = cluster.add_gang("a/gang", 8, 10);
  EXPECT_EQ(cluster.made({.pending_pods = 5}), Made()) << "and none for show, which would use the room there is";
  EXPECT_EQ(cluster.sentence(gang),
            "0 of 10 executors running. 8 guaranteed pending: gang start needs room for all 8, there is room for 7. 2 "
            "pending: after the gang start");
  cluster.add_node(1);
  EXPECT_EQ(cluster.made(), (Made{{"a/gang", 8}}));
  EXPECT_EQ(cluster.sentence(gang),
            "0 of 10 executors running. 8 guaranteed pending: room is free, starting. 2 pending: no room");
}

TEST(Gang, LeavesItsRoomToOthersUntilItFits) {
  GangCluster cluster;
  const auto node = cluster.add_node(7);
  cluster.add_gang("a/gang", 8, 8);
  const auto borrower = cluster.add_farm("b/borrower", 0, 9);
  cluster.add_pods(borrower, 4, node);
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  EXPECT_EQ(cluster.made(), (Made{{"b/borrower", 3}}));
}

TEST(Gang, IsMadeWhenAllThatIsFreedForItIsFree) {
  GangCluster cluster;
  const auto node = cluster.add_node(8);
  const auto gang = cluster.add_gang("a/gang", 8, 8);
  const auto borrower = cluster.add_farm("b/borrower", 0, 3);
  cluster.add_pods(borrower, 3, node);
  const Decision decision = cluster.decide();
  EXPECT_EQ(reclaimed_from(cluster.state, decision), (Made{{"b/borrower", 3}}));
  ASSERT_EQ(decision.creations.size(), 8U);
  EXPECT_TRUE(std::ranges::all_of(decision.creations, &Creation::awaits_drain));
  EXPECT_EQ(cluster.sentence(gang),
            "0 of 8 executors running. 5 guaranteed pending: room is free, starting with the rest of the gang. 3 "
            "guaranteed pending: reclaiming from b/borrower (3), done within 60 s");
  cluster.state.pods.clear();
  cluster.farm(borrower).wanted = 0;
  const Decision next = cluster.decide();
  ASSERT_EQ(next.creations.size(), 8U);
  EXPECT_TRUE(std::ranges::none_of(next.creations, &Creation::awaits_drain));
}

TEST(Gang, ReleasesWhatItHasIfTheRestLosesItsRoomBeforeItStarts) {
  GangCluster cluster;
  const auto node = cluster.add_node(7);
  const auto gang = cluster.add_gang("a/gang", 8, 8);
  cluster.add_pods(gang, 6, node);
  cluster.add_pods(gang, 2, -1);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.removals.size(), 8U);
  EXPECT_TRUE(std::ranges::all_of(decision.removals, &Removal::is_surplus));
  EXPECT_EQ(decision.outlooks[0].held, 0);
}

TEST(Gang, KeepsWhatItHasOnceItHasStarted) {
  GangCluster cluster;
  const auto node = cluster.add_node(8);
  const auto gang = cluster.add_gang("a/gang", 8, 8);
  cluster.add_pods(gang, 8, node);
  advance_usage(cluster.state, 1010, {});
  EXPECT_TRUE(cluster.farm(gang).history.has_started);
  cluster.state.nodes[0].allocatable.amounts[0] = 7 * kCore;
  cluster.state.pods.pop_back();
  advance_usage(cluster.state, 1020, {});
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.removals.empty());
  EXPECT_EQ(decision.outlooks[0].held, 7);
  EXPECT_EQ(decision.outlooks[0].guarantee.for_gang, 0);
  cluster.state.pods.clear();
  advance_usage(cluster.state, 1030, {});
  EXPECT_FALSE(cluster.farm(gang).history.has_started) << "it starts anew";
  EXPECT_EQ(cluster.decide().outlooks[0].guarantee.for_gang, 8);
}

TEST(Gang, ThatFitsOnNoNodeSaysSo) {
  GangCluster cluster;
  cluster.add_node(8);
  const auto gang = cluster.add_gang("a/gang", 2, 2);
  cluster.farm(gang).template_shape = cluster.add_shape(9);
  EXPECT_EQ(cluster.sentence(gang),
            "0 of 2 executors running. 2 guaranteed pending: each needs more than any node has, even an empty one");
}

/// Two gangs of eight on ten rooms.
struct TwoGangs : GangCluster {
  TwoGangs() {
    add_node(10);
    add_gang("a/one", 8, 8);
    add_gang("b/two", 8, 8);
  }
};

TEST(Gangs, StartOneAfterTheOtherWhereBothDoNotFit) {
  TwoGangs cluster;
  EXPECT_EQ(cluster.made(), (Made{{"a/one", 8}}));
  EXPECT_EQ(cluster.sentence(1),
            "0 of 8 executors running. 8 guaranteed pending: gang start needs room for all 8, there is room for 2");
  EXPECT_GT(cluster.decide().guaranteed_load, 1);
  cluster.farm(1).history.short_since = 900;
  EXPECT_EQ(cluster.made(), (Made{{"b/two", 8}})) << "who is short for longest is first";
  cluster.add_pods(0, 5, 0);
  EXPECT_EQ(cluster.made(), (Made{{"a/one", 3}})) << "but for who holds more";
}

TEST(Gangs, ThatCannotStartKeepNoOtherFromStarting) {
  TwoGangs cluster;
  cluster.farm(0).guaranteed = cluster.farm(0).wanted = 100;
  cluster.farm(0).history.short_since = 1;
  EXPECT_EQ(cluster.made(), (Made{{"b/two", 8}}));
  cluster.add_gang("c/three", 2, 2);
  EXPECT_EQ(cluster.made(), (Made{{"b/two", 8}, {"c/three", 2}}));
}

TEST(Gangs, StartOneAfterTheOtherUnderACeiling) {
  TwoGangs cluster;
  cluster.add_node(10);
  cluster.state.ceilings = {{.name = "the course", .farms = {0, 1}, .guaranteed = 9}};
  EXPECT_EQ(cluster.made(), (Made{{"a/one", 8}}));
  EXPECT_EQ(cluster.sentence(1),
            "0 of 8 executors running. 8 guaranteed pending: gang start needs room for all 8, there is room for 1; "
            "minExecutors 8 counts as 4: the ceiling of the course");
}

TEST(Gang, StartsNotWithAsManyAsAreMadeByNow) {
  GangCluster cluster;
  const auto node = cluster.add_node(8);
  const auto gang = cluster.add_gang("a/gang", 8, 8);
  cluster.add_pods(gang, 5, node);
  cluster.farm(gang).most_made = 5;  // by a quota
  advance_usage(cluster.state, 1010, {});
  EXPECT_EQ(cluster.decide().removals.size(), 5U);
}

TEST(Gang, OfPodsThatOthersMakeIsNone) {
  GangCluster cluster;
  const auto node = cluster.add_node(4);
  const auto farm = cluster.add_gang("a/spark", 8, 8);
  cluster.farm(farm).template_shape = -1;
  cluster.add_pods(farm, 4, node);
  EXPECT_EQ(cluster.decide().outlooks[0].gang, 0);
}

}  // namespace
}  // namespace podere::farm
