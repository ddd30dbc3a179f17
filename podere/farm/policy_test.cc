#include "podere/farm/policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/farm/explain.h"
#include "podere/farm/history.h"
#include "podere/farm/test_cluster.h"

namespace podere::farm {
namespace {

using Reclaimed = std::map<std::string, int>;

std::int32_t borrowing_creations(const Decision& decision) {
  return static_cast<std::int32_t>(std::ranges::count_if(decision.creations, &Creation::is_borrowed));
}

/// A cluster of 20 cores that are all used, 10 of them borrowed; astro is guaranteed 5 and has asked for none so far.
struct FullCluster : TestCluster {
  FullCluster() {
    for (int i = 0; i < 4; ++i) add_node(5);
    hep = add_farm("hep/cms", 2, 8);
    bio = add_farm("bio/cells", 2, 6);
    geo = add_farm("geo/waves", 2, 6);
    astro = add_farm("astro/sky", 5, 0);
    add_pods(hep, 5, 0);
    add_pods(hep, 3, 1);
    add_pods(bio, 2, 1);
    add_pods(bio, 4, 2);
    add_pods(geo, 1, 2);
    add_pods(geo, 5, 3);
  }
  std::int32_t hep, bio, geo, astro;
};

TEST(Policy, ReclaimsInProportionToWhatIsOverTheGuarantee) {
  FullCluster cluster;  // over by 6, 4 and 4: of five 2.14, 1.43 and 1.43
  cluster.state.farms[cluster.astro].wanted = 5;
  const Decision decision = cluster.decide();
  EXPECT_EQ(reclaimed_from(cluster.state, decision), (Reclaimed{{"hep/cms", 2}, {"bio/cells", 2}, {"geo/waves", 1}}));
  EXPECT_EQ(decision.creations.size(), 5U);
  EXPECT_EQ(borrowing_creations(decision), 0);
}

TEST(Policy, DoesNothingWhereNothingIsMissing) {
  FullCluster cluster;
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.reclaims.empty() && decision.creations.empty() && decision.removals.empty());
}

TEST(Policy, KnowsNoNeedBeyondGuarantees) {
  FullCluster cluster;
  cluster.state.farms[cluster.hep].wanted = 20;
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.reclaims.empty() && decision.creations.empty());
  EXPECT_EQ(decision.outlooks[cluster.hep].beyond.for_room, 12);
}

// What the operator of 2019 did wrong.

TEST(Original, RoundedUpInEachFarm) {
  FullCluster cluster;
  cluster.state.farms[cluster.astro].wanted = 1;
  EXPECT_EQ(reclaimed_from(cluster.state, cluster.decide()), (Reclaimed{{"hep/cms", 1}}));
}

TEST(Original, CountedPodsThatEndAsRunning) {
  FullCluster cluster;
  cluster.state.farms[cluster.astro].wanted = 3;
  cluster.reclaim(cluster.decide());
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  const auto other = std::ranges::find_if(cluster.state.pods, [](const Pod& pod) { return !pod.is_reclaimed; });
  other->phase = Phase::kEnding;  // deleted by a user: its room is on its way too
  other->deadline = 1030;
  cluster.state.farms[cluster.astro].wanted = 4;
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  cluster.state.farms[cluster.astro].wanted = 5;
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

TEST(Original, CountedPodsThatHaveFreeRoomAsNeed) {
  FullCluster cluster;
  cluster.add_node(2);
  cluster.state.farms[cluster.astro].wanted = 3;
  cluster.add_pods(cluster.astro, 3, -1);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.reclaims.size(), 1U);
  EXPECT_EQ(decision.outlooks[cluster.astro].guarantee.for_start, 2);
  EXPECT_EQ(decision.outlooks[cluster.astro].guarantee.for_drain, 1);
}

TEST(Original, DidNotLookWhetherAPodFitsItsNode) {
  FullCluster cluster;
  NodeSet only_last = NodeSet::none(4);
  only_last.add(3);
  cluster.state.node_sets.push_back(only_last);
  const std::int32_t shape = cluster.add_shape(1, 0, 1);
  cluster.state.farms[cluster.astro].template_shape = shape;
  cluster.state.farms[cluster.astro].wanted = 3;
  const Decision decision = cluster.decide();
  EXPECT_EQ(reclaimed_from(cluster.state, decision), (Reclaimed{{"geo/waves", 3}}));
  for (const Reclaim& reclaim : decision.reclaims) EXPECT_EQ(cluster.state.pods[reclaim.pod].node, 3);
}

TEST(Policy, MakesExecutorsThatWaitAnewWhenTheTemplateIsAnother) {
  TestCluster cluster;
  cluster.add_node(4);
  const std::int32_t large = cluster.add_shape(64);
  const auto farm = cluster.add_farm("a/a", 2, 3);
  cluster.add_pods(farm, 1, 0);
  cluster.last_pod().is_outdated = true;  // it runs, and stays
  cluster.add_pods(farm, 1, -1, large);
  cluster.last_pod().is_outdated = true;
  cluster.add_pods(farm, 1, -1);
  const Decision decision = cluster.decide();
  ASSERT_EQ(decision.removals.size(), 1U);
  EXPECT_EQ(decision.removals[0].pod, 1);
  ASSERT_EQ(decision.creations.size(), 1U);
  EXPECT_GE(decision.creations[0].node, 0);
  EXPECT_EQ(decision.outlooks[0].guarantee.too_large + decision.outlooks[0].beyond.too_large, 0);
}

TEST(Policy, MakesFewOfTheExecutorsThatFitOnNoNode) {
  TestCluster cluster;
  cluster.add_node(4);
  const auto farm = cluster.add_farm("a/a", 1000, 1000);
  cluster.state.farms[farm].template_shape = cluster.add_shape(64);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.creations.size(), 10U);
  EXPECT_EQ(decision.outlooks[farm].guarantee.too_large, 1000);
  cluster.add_pods(farm, 10, -1, cluster.state.farms[farm].template_shape);
  EXPECT_TRUE(cluster.decide().creations.empty());
}

TEST(Original, DeletedAllThatWaitedInAFarmThatShrank) {
  TestCluster cluster;
  cluster.add_node(7);
  const auto farm = cluster.add_farm("a/a", 0, 6);
  cluster.add_pods(farm, 3, 0);
  cluster.add_pods(farm, 4, -1);
  cluster.state.farms[farm].guaranteed = 6;
  const Decision decision = cluster.decide();
  ASSERT_EQ(decision.removals.size(), 1U);
  EXPECT_EQ(cluster.state.pods[decision.removals[0].pod].phase, Phase::kWaiting);
  EXPECT_TRUE(decision.removals[0].is_surplus);
}

TEST(Original, LostADecisionForGood) {
  FullCluster cluster;
  cluster.state.farms[cluster.astro].wanted = 5;
  const Decision lost = cluster.decide();
  const Decision again = cluster.decide();
  ASSERT_EQ(lost.reclaims.size(), again.reclaims.size());
  for (std::size_t i = 0; i < lost.reclaims.size(); ++i) EXPECT_EQ(lost.reclaims[i].pod, again.reclaims[i].pod);
}

// What users of Kueue, Volcano and YuniKorn complain about.

TEST(Kueue13662, RoomThatIsFreedByHalvesIsHeld) {
  TestCluster cluster;
  const auto node = cluster.add_node(4);
  const auto large = cluster.add_shape(4);
  const auto two = cluster.add_shape(2);
  const auto borrower = cluster.add_farm("borrower", 0, 2, two);
  const auto needy = cluster.add_farm("needy", 1, 1, large);
  cluster.add_pods(borrower, 2, node, two);
  const Decision first = cluster.decide();
  EXPECT_EQ(first.reclaims.size(), 2U);
  cluster.reclaim(first);
  cluster.add_pods(needy, 1, -1, large);
  cluster.state.pods.erase(cluster.state.pods.begin());  // one has drained before the other
  const Decision second = cluster.decide();
  EXPECT_TRUE(second.reclaims.empty());
  EXPECT_TRUE(second.creations.empty());  // none of the farm that had borrowed the room
  EXPECT_EQ(second.outlooks[needy].guarantee.for_drain, 1);
}

TEST(Kueue6947, AnExecutorThatIsTooLargeReclaimsAndBlocksNothing) {
  FullCluster cluster;
  const auto large = cluster.add_farm("a/large", 1, 1, cluster.add_shape(64));
  cluster.state.farms[cluster.astro].wanted = 2;
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.reclaims.size(), 2U);
  EXPECT_EQ(decision.outlooks[large].guarantee.too_large, 1);
  EXPECT_EQ(sentences(cluster.state, decision)[large],
            "0 of 1 executors running. 1 guaranteed pending: each needs more than any node has, even an empty one");
}

TEST(Kueue6947, AnExecutorThatOnlyGuaranteesOfOthersKeepOutReclaimsNothing) {
  TestCluster cluster;
  cluster.add_node(4);
  cluster.add_node(4);
  const auto spread = cluster.add_farm("spread", 2, 6);
  cluster.add_pods(spread, 3, 0);
  cluster.add_pods(spread, 3, 1);
  const auto other = cluster.add_farm("other", 2, 2);
  cluster.add_pods(other, 1, 0);
  cluster.add_pods(other, 1, 1);
  const auto large = cluster.add_farm("large", 1, 1, cluster.add_shape(4));
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.reclaims.empty());
  EXPECT_EQ(decision.outlooks[large].guarantee.for_room, 1);
}

TEST(Kueue3779, AReclaimedExecutorIsNotCreatedAgainInTheRoomOfOthers) {
  FullCluster cluster;
  cluster.state.farms[cluster.astro].wanted = 5;
  cluster.reclaim(cluster.decide());
  std::erase_if(cluster.state.pods,
                [](const Pod& pod) { return pod.is_reclaimed; });  // all gone, astro's not yet there
  EXPECT_EQ(borrowing_creations(cluster.decide()), 0);
  cluster.add_pods(cluster.astro, 5, -1);
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.creations.empty() && decision.reclaims.empty());
}

TEST(Volcano5994, OneExecutorCostsOneExecutor) {
  TestCluster cluster;
  cluster.add_node(11);
  const auto large = cluster.add_farm("qa", 1, 11);
  cluster.add_pods(large, 11, 0);
  cluster.add_farm("qb", 10, 1);
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

TEST(Volcano2734, DriversAreNotReclaimed) {
  TestCluster cluster;
  cluster.add_node(2);
  const auto spark = cluster.add_farm("spark", 0, 2, -1);
  cluster.add_pods(spark, 2, 0);
  cluster.state.pods[0].is_driver = true;
  cluster.add_farm("needy", 2, 2);
  const Decision decision = cluster.decide();
  ASSERT_EQ(decision.reclaims.size(), 1U);
  EXPECT_EQ(decision.reclaims[0].pod, 1);
  EXPECT_EQ(decision.outlooks[1].guaranteed, 1) << "a driver's room cannot be guaranteed to others";
}

TEST(Yunikorn, AFarmWithNeitherGuaranteeNorNeedReclaimsNothing) {
  FullCluster cluster;
  cluster.add_farm("a/idle", 0, 10);
  EXPECT_TRUE(cluster.decide().reclaims.empty());
}

// Victims.

TEST(Victims, AreNotReadyThenCheapestThenYoungest) {
  TestCluster cluster;
  cluster.add_node(5);
  const auto borrower = cluster.add_farm("borrower", 0, 5);
  cluster.add_pods(borrower, 5, 0);
  auto& pods = cluster.state.pods;
  for (auto& pod : pods) pod.ready_since = 100;
  pods[0].checkpointed = 950;  // 50 s at risk
  pods[1].checkpointed = 990;  // 10 s at risk
  pods[2].created = 99;        // the youngest of those without
  pods[3].phase = Phase::kStarting;
  const auto needy = cluster.add_farm("needy", 0, 4);
  std::vector<std::int32_t> order;
  for (int n = 1; n <= 4; ++n) {
    cluster.state.farms[needy].guaranteed = n;
    for (const Reclaim& reclaim : cluster.decide().reclaims) {
      if (std::ranges::find(order, reclaim.pod) == order.end()) order.push_back(reclaim.pod);
    }
  }
  EXPECT_EQ(order, (std::vector<std::int32_t>{3, 1, 0, 2}));
}

TEST(Victims, RunTheirLeastTimeAndTheSentenceSaysUntilWhen) {
  TestCluster cluster;
  cluster.add_node(2);
  const auto borrower = cluster.add_farm("borrower", 0, 2);
  cluster.state.farms[borrower].min_runtime_seconds = 600;
  cluster.add_pods(borrower, 2, 0);
  for (Pod& pod : cluster.state.pods) pod.ready_since = 900;
  const auto needy = cluster.add_farm("needy", 1, 1);
  const Decision early = cluster.decide();
  EXPECT_TRUE(early.reclaims.empty());
  EXPECT_EQ(sentences(cluster.state, early)[needy],
            "0 of 1 executors running. 1 guaranteed pending: executors can be reclaimed in 500 s, after their "
            "minRuntimeSeconds");
  cluster.state.now = 1500;
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

TEST(Victims, OfWhichTwoFarmsGetTheRoomRunTheirLeastTimeAndBothSentencesSayUntilWhen) {
  TestCluster cluster;
  cluster.add_node(2);
  const auto two = cluster.add_shape(2);
  const auto borrower = cluster.add_farm("borrower", 0, 1, two);
  cluster.state.farms[borrower].min_runtime_seconds = 600;
  cluster.add_pods(borrower, 1, 0, two);
  cluster.last_pod().ready_since = 900;
  const auto first = cluster.add_farm("first", 1, 1);
  const auto second = cluster.add_farm("second", 1, 1);  // its executor fits where the one of 2 cores was, too
  const Decision early = cluster.decide();
  EXPECT_TRUE(early.reclaims.empty());
  for (const std::int32_t farm : {first, second}) {
    EXPECT_EQ(early.outlooks[farm].retry_at, 1500);
    EXPECT_EQ(sentences(cluster.state, early)[farm],
              "0 of 1 executors running. 1 guaranteed pending: executors can be reclaimed in 500 s, after their "
              "minRuntimeSeconds");
  }
}

TEST(Victims, OnOneNodeAreAsFewAsCanBe) {
  TestCluster cluster;
  cluster.add_node(4);
  cluster.add_node(4);
  const auto two = cluster.add_shape(2);
  const auto small = cluster.add_farm("small", 0, 4);
  const auto mid = cluster.add_farm("mid", 0, 2, two);
  cluster.add_pods(small, 4, 0);
  cluster.add_pods(mid, 2, 1, two);
  cluster.add_farm("large", 1, 1, cluster.add_shape(4));
  EXPECT_EQ(reclaimed_from(cluster.state, cluster.decide()), (Reclaimed{{"mid", 2}}));
}

TEST(Victims, AreSparedWhereTheRoomOfOthersIsEnough) {
  TestCluster cluster;
  cluster.add_node(1);
  cluster.add_node(4);
  const auto four = cluster.add_shape(4);
  const auto small = cluster.add_farm("small", 0, 1);
  const auto big = cluster.add_farm("big", 0, 1, four);
  cluster.add_pods(small, 1, 0);
  cluster.add_pods(big, 1, 1, four);
  cluster.add_farm("needy", 2, 2);
  EXPECT_EQ(reclaimed_from(cluster.state, cluster.decide()), (Reclaimed{{"big", 1}}));
}

TEST(Victims, ThatDoNotEndAreNotWaitedForForEver) {
  TestCluster cluster;
  cluster.add_node(1);
  cluster.add_node(1);
  const auto borrower = cluster.add_farm("borrower", 0, 2);
  cluster.add_pods(borrower, 1, 0);
  cluster.add_pods(borrower, 1, 1);
  const auto needy = cluster.add_farm("needy", 1, 1);
  cluster.reclaim(cluster.decide());
  cluster.add_pods(needy, 1, -1);
  cluster.state.now += 61;
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  EXPECT_EQ(cluster.decide().expired.size(), 1U);
  cluster.state.now += 300;
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

// Guarantees.

TEST(Guarantees, AboveTheClusterAreCutFromAbove) {
  TestCluster cluster;
  cluster.add_node(10);
  const auto a = cluster.add_farm("a", 12, 20);
  const auto b = cluster.add_farm("b", 8, 20);
  cluster.add_farm("c", 2, 20);
  cluster.add_pods(a, 10, 0);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.outlooks[a].guaranteed, 4);
  EXPECT_EQ(decision.outlooks[b].guaranteed, 4);
  EXPECT_EQ(decision.outlooks[2].guaranteed, 2);
  EXPECT_EQ(reclaimed_from(cluster.state, decision), (Reclaimed{{"a", 6}}));
  EXPECT_DOUBLE_EQ(decision.guaranteed_load, 2.2);
  EXPECT_NE(sentences(cluster.state, decision)[b].find(
                "its guarantee of 8 counts as 4, as all guarantees together are 220 % of the cluster"),
            std::string::npos);
}

TEST(Guarantees, ThatAreUnreasonableReclaimNothingFromThoseOfOthers) {
  FullCluster cluster;  // 20 rooms; the guarantees of others are 2, 2, 2 and 5
  cluster.state.farms[cluster.astro].wanted = 5;
  const auto eve = cluster.add_farm("eve/all", 100'000, 100'000);
  cluster.state.farms[eve].maximum = 100'000;
  const Decision decision = cluster.decide();
  for (const auto& [farm, due] : {std::pair{cluster.hep, 2}, {cluster.bio, 2}, {cluster.geo, 2}, {cluster.astro, 5}}) {
    EXPECT_EQ(decision.outlooks[farm].guaranteed, due) << farm;
  }
  EXPECT_EQ(decision.outlooks[eve].guaranteed, 9) << "what is left";
}

TEST(Guarantees, OfANamespaceAreNotMoreByMoreFarms) {
  TestCluster cluster;
  cluster.add_node(16);
  const auto sky = cluster.add_farm("astro/sky", 12, 12);
  for (int i = 0; i < 10; ++i) cluster.add_farm(fmt::format("eve/{}", i), 900, 900);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.outlooks[sky].guaranteed, 8);
}

TEST(Guarantees, CountWhatNodesCannotBeFilledWith) {
  TestCluster cluster;
  cluster.add_node(8);
  cluster.add_node(8);  // one executor of 5 each
  const auto five = cluster.add_shape(5);
  const auto a = cluster.add_farm("a", 2, 2, five);
  const auto b = cluster.add_farm("b", 2, 2, five);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.outlooks[a].guaranteed, 1);
  EXPECT_EQ(decision.outlooks[b].guaranteed, 1);
}

TEST(Guarantees, OnOneKindOfNodeDoNotScaleOthers) {
  TestCluster cluster;
  cluster.add_node(4, 1);
  cluster.add_node(4);
  const auto gpu = cluster.add_shape(1, 1);
  const auto a = cluster.add_farm("a", 2, 2, gpu);
  const auto b = cluster.add_farm("b", 2, 2, gpu);
  const auto c = cluster.add_farm("c", 4, 4);
  const Decision decision = cluster.decide();
  EXPECT_EQ(decision.outlooks[a].guaranteed + decision.outlooks[b].guaranteed, 1);
  EXPECT_EQ(decision.outlooks[c].guaranteed, 4);
}

TEST(Guarantees, ThatAreCutAreShownIfThePolicySaysSo) {
  TestCluster cluster;
  cluster.add_node(4);
  const auto farm = cluster.add_farm("a", 9, 9);
  cluster.add_pods(farm, 4, 0);
  EXPECT_TRUE(cluster.decide().creations.empty());
  const Policy shows = {.pending_pods = 3};
  const Decision decision = cluster.decide(shows);
  ASSERT_EQ(decision.creations.size(), 3U);
  for (const Creation& creation : decision.creations) EXPECT_TRUE(creation.shows_missing && creation.is_borrowed);
  for (int i = 0; i < 3; ++i) {
    cluster.add_pods(farm, 1, -1);
    cluster.last_pod().shows_missing = true;
  }
  cluster.state.pods[4].shows_missing = false;  // it lost its room
  const Decision then = cluster.decide(shows);
  EXPECT_TRUE(then.creations.empty() && then.removals.empty());
  EXPECT_EQ(then.outlooks[farm].beyond.for_room, 5);
  EXPECT_EQ(cluster.decide().removals.size(), 2U) << "where it is shown no longer";
  cluster.state.farms[farm].most_shown = 1;
  EXPECT_EQ(cluster.decide(shows).removals.size(), 2U);
  cluster.state.farms[farm].most_shown = 3;
  cluster.state.farms[farm].guaranteed = 4;
  EXPECT_EQ(cluster.decide(shows).removals.size(), 2U) << "a guarantee that is met";
  cluster.state.farms[farm].guaranteed = 9;
  cluster.add_node(5);
  const Decision grown = cluster.decide(shows);
  EXPECT_TRUE(grown.removals.empty());
  EXPECT_EQ(grown.creations.size(), 2U);
  EXPECT_TRUE(std::ranges::none_of(grown.creations, &Creation::shows_missing)) << "room has come";
}

TEST(Guarantees, ThatWaitForRoomHaveNoPodShownBesideThem) {
  TestCluster cluster;
  cluster.add_node(4);
  const auto a = cluster.add_farm("a", 9, 9);
  cluster.add_pods(a, 4, 0);
  cluster.add_pods(a, 1, -1);
  cluster.last_pod().shows_missing = true;
  cluster.add_farm("b", 1, 1);
  const Decision decision = cluster.decide({.pending_pods = 3});
  EXPECT_EQ(decision.reclaims.size(), 1U);
  EXPECT_EQ(decision.removals.size(), 1U);
  EXPECT_EQ(decision.creations.size(), 1U) << "that of b";
}

// Borrowed room.

TEST(BorrowedRoom, GoesToTheSmallestWeightedShare) {
  TestCluster cluster;
  cluster.add_node(9);
  const auto a = cluster.add_farm("a", 0, 9);
  const auto b = cluster.add_farm("b", 0, 9);
  cluster.state.farms[b].weight = 2;
  const Decision decision = cluster.decide();
  EXPECT_EQ(borrowing_creations(decision), 9);
  EXPECT_EQ(decision.outlooks[a].beyond.for_start, 3);
  EXPECT_EQ(decision.outlooks[b].beyond.for_start, 6);
}

TEST(BorrowedRoom, IsWithdrawnFromThoseThatStillWaitWhenAGuaranteeNeedsIt) {
  TestCluster cluster;
  cluster.add_node(2);
  const auto borrower = cluster.add_farm("borrower", 0, 2);
  cluster.add_pods(borrower, 2, -1);
  cluster.add_farm("needy", 1, 1);
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.reclaims.empty());
  ASSERT_EQ(decision.removals.size(), 1U);
  EXPECT_FALSE(decision.removals[0].is_surplus);
}

TEST(BorrowedRoom, ThatPodsOfOthersUseIsFreedLessAndLessOften) {
  TestCluster cluster;
  cluster.add_node(2);
  const auto thief = cluster.add_farm("thief", 0, 2, -1);
  cluster.add_pods(thief, 2, 0);
  const auto needy = cluster.add_farm("needy", 1, 1);
  cluster.add_pods(needy, 1, -1);
  History& history = cluster.state.farms[needy].history;
  history = {.rooms_owed = 2, .last_freed = 990};
  const Decision decision = cluster.decide();
  EXPECT_TRUE(decision.reclaims.empty());
  EXPECT_EQ(sentences(cluster.state, decision)[needy],
            "0 of 1 executors running. 1 guaranteed pending: other pods use the reclaimed room, next reclaim in 50 s");
  cluster.state.now = 1050;
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

TEST(Guarantees, TheLastRoomOfAFarmThatWaitsIsNotGivenToOneThatCameLater) {
  TestCluster cluster;
  cluster.add_node(8);
  cluster.add_pods(cluster.add_farm("borrower", 0, 3), 3, 0);
  const auto late = cluster.add_farm("late", 4, 4);
  const auto first = cluster.add_farm("there-first", 4, 4);
  cluster.add_pods(first, 3, 0);
  advance_usage(cluster.state, 1000, {});  // both are short since then
  cluster.state.farms[late].wanted = 0;
  advance_usage(cluster.state, 1010, {});
  cluster.state.farms[late].wanted = 4;
  advance_usage(cluster.state, 1020, {});
  EXPECT_EQ(cluster.state.farms[first].history.short_since, 1000);
  EXPECT_EQ(cluster.state.farms[late].history.short_since, 1020);
  const auto has_room = [&](std::int32_t farm) {
    const Decision decision = cluster.decide();
    return std::ranges::count_if(decision.creations, [&](const auto& c) { return c.farm == farm && c.node >= 0; });
  };
  EXPECT_EQ(has_room(first), 1);
  EXPECT_EQ(has_room(late), 1);
  cluster.state.farms[first].history.short_since = 0;  // unknown, as in a what-if
  EXPECT_EQ(has_room(late), 2);
}

TEST(Guarantees, RoomFreedForAFarmIsNotGivenToOneThatCameLater) {
  TestCluster cluster;
  cluster.add_node(6);
  cluster.add_pods(cluster.add_farm("borrower", 0, 2), 2, 0);
  const auto late = cluster.add_farm("late", 2, 2);
  const auto first = cluster.add_farm("there-first", 4, 4);
  cluster.add_pods(first, 2, 0);
  const auto node_of = [](const Decision& decision, std::int32_t farm) {
    std::vector<std::int32_t> nodes;
    for (const Creation& creation : decision.creations) {
      if (creation.farm == farm) nodes.push_back(creation.node);
    }
    return nodes;
  };
  EXPECT_EQ(node_of(cluster.decide(), late), (std::vector<std::int32_t>{0, 0})) << "who has less comes first";
  cluster.state.farms[first].history = {.rooms_owed = 2, .last_freed = 999};
  const Decision decision = cluster.decide();
  EXPECT_EQ(node_of(decision, first), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(node_of(decision, late), (std::vector<std::int32_t>{-1, -1}));
}

TEST(Guarantees, ExecutorsForWhichRoomIsBeingFreedAreReportedToAwaitThat) {
  TestCluster cluster;
  cluster.add_node(2);
  cluster.add_pods(cluster.add_farm("borrower", 0, 2), 2, 0);
  cluster.add_farm("lender", 1, 1);
  cluster.add_farm("vast", 1, 1, cluster.add_shape(3));
  const Decision decision = cluster.decide();
  ASSERT_EQ(decision.reclaims.size(), 1U);
  ASSERT_EQ(decision.creations.size(), 2U);
  for (const Creation& creation : decision.creations) EXPECT_EQ(creation.awaits_drain, creation.farm == 1);
}

TEST(FairShare, MovesBorrowedRoomUntilSharesAreEqual) {
  TestCluster cluster;
  cluster.add_node(10);
  const auto a = cluster.add_farm("a", 2, 10);
  const auto b = cluster.add_farm("b", 0, 10);
  cluster.add_pods(a, 10, 0);
  EXPECT_TRUE(cluster.decide().reclaims.empty());
  const Decision decision = cluster.decide({.mode = Mode::kFairShare});
  EXPECT_EQ(decision.outlooks[a].share, 6);
  EXPECT_EQ(decision.outlooks[b].share, 4);
  EXPECT_EQ(decision.reclaims.size(), 4U);
  EXPECT_TRUE(decision.creations.empty());
  EXPECT_EQ(decision.outlooks[b].beyond.for_drain, 4);
}

TEST(FairShare, LooksAtWhatWasUsed) {
  TestCluster cluster;
  cluster.add_node(10);
  const auto a = cluster.add_farm("a", 0, 10);
  const auto b = cluster.add_farm("b", 0, 10);
  const Policy policy{.mode = Mode::kHistoryAware};
  // Two thirds less weight: one executor for two half-lives' worth of 1 / ln 2.
  cluster.state.farms[b].history.settled_usage = 2 * policy.half_life_seconds / 0.6931471805599453;
  const Decision decision = cluster.decide(policy);
  EXPECT_EQ(decision.outlooks[a].beyond.for_start, 8);
  EXPECT_EQ(decision.outlooks[b].beyond.for_start, 2);
}

TEST(Sentences, NameBorrowersAndHolders) {
  FullCluster cluster;
  cluster.state.farms[cluster.astro].wanted = 7;
  const Decision decision = cluster.decide();
  EXPECT_EQ(sentences(cluster.state, decision)[cluster.astro],
            "0 of 7 executors running. 5 guaranteed pending: reclaiming from bio/cells (2), geo/waves (1) and hep/cms "
            "(2), done within 60 s. 2 pending: no room. hep/cms borrows most (4)");
  EXPECT_EQ(reason(cluster.state, decision, decision.reclaims[0]),
            "astro/sky runs 0 of 5 guaranteed executors; hep/cms keeps 6, guaranteed 2");
}

/// A cluster, and the sentence about its farm `a`.
struct SentenceCase {
  const char* name;
  std::string sentence;
  void (*fill)(TestCluster&);
};

TEST(Sentences, SayWhatIsAndName) {
  const SentenceCase cases[] = {
      {"all run", "2 of 2 executors running",
       [](TestCluster& c) {
         c.add_node(2);
         c.add_pods(c.add_farm("a", 0, 2), 2, 0);
       }},
      {"more run than are wanted", "3 running, 1 wanted (pods made by others)",
       [](TestCluster& c) {
         c.add_node(3);
         c.add_pods(c.add_farm("a", 0, 1, -1), 3, 0);
       }},
      {"it borrows most itself", "3 of 9 executors running. 6 pending: no room. b borrows most (1)",
       [](TestCluster& c) {
         c.add_node(4);
         c.add_pods(c.add_farm("a", 0, 9), 3, 0);
         c.add_pods(c.add_farm("b", 0, 1), 1, 0);
       }},
      {"no other farm borrows", "3 of 9 executors running. 6 pending: no room",
       [](TestCluster& c) {
         c.add_node(3);
         c.add_pods(c.add_farm("a", 0, 9), 3, 0);
       }},
      {"who borrows most is on a node that is no use",
       "0 of 1 executors running. 1 pending: no room. c borrows most (1)",
       [](TestCluster& c) {
         c.add_node(8);
         c.add_node(8, 1);
         c.add_farm("a", 0, 1, c.add_shape(1, 1));
         c.add_pods(c.add_farm("b", 0, 8), 8, 0);
         c.add_pods(c.add_farm("c", 0, 1, 1), 1, 1, 1);
       }},
      {"others hold the room",
       "0 of 2 executors running. 2 guaranteed pending: no room, held by 7 pods that belong to no farm of this manager",
       [](TestCluster& c) {
         c.state.resources.emplace_back("pods");
         c.state.nodes.push_back(
             {.name = "n", .allocatable = {{4 * kCore, 0, 0, 110}}, .used_by_others = {{4 * kCore, 0, 0, 7}}});
         c.add_farm("a", 2, 2);
       }},
      {"no node is as large",
       "0 of 1 executors running. 1 pending: each needs more than any node has, even an empty one",
       [](TestCluster& c) {
         c.add_node(2);
         c.add_farm("a", 0, 1, c.add_shape(3));
       }},
      {"no node matches",
       "0 of 1 executors running. 1 pending: no schedulable node matches the template's node selector, affinity and "
       "tolerations",
       [](TestCluster& c) {
         c.add_node(2);
         c.state.nodes[0].is_schedulable = false;
         c.add_farm("a", 0, 1);
       }},
      {"it starts", "0 of 1 executors running. 1 guaranteed pending: room is free, starting",
       [](TestCluster& c) {
         c.add_node(2);
         c.add_farm("a", 1, 1);
       }},
  };
  for (const SentenceCase& a_case : cases) {
    TestCluster cluster;
    a_case.fill(cluster);
    EXPECT_EQ(sentences(cluster.state, cluster.decide())[0], a_case.sentence) << a_case.name;
  }
}

TEST(State, IsRefusedWhereItContradictsItself) {
  const auto refused = [](auto change) {
    FullCluster cluster;
    change(cluster.state);
    try {
      check(cluster.state);
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused([](State&) {}), "");
  EXPECT_EQ(refused([](State& state) { state.farms[0].guaranteed = -1; }),
            "farm 'hep/cms': the guaranteed number is -1, which is not a number from 0");
  EXPECT_EQ(refused([](State& state) { state.farms[0].maximum = 1; }),
            "farm 'hep/cms': at most 1 executors, which is less than the 2 guaranteed");
  EXPECT_NE(refused([](State& state) { state.farms[0].weight = 0; }), "");
  EXPECT_NE(refused([](State& state) { state.pods[0].farm = 4; }), "");
  EXPECT_NE(refused([](State& state) { state.pods[0].node = -1; }), "");
  EXPECT_EQ(refused([](State& state) { state.pods[1].uid = state.pods[0].uid; }), "the pod 'hep/cms-0' is there twice");
  EXPECT_NE(refused([](State& state) { state.nodes[0].allocatable.amounts[0] = -1; }), "");
}

}  // namespace
}  // namespace podere::farm
