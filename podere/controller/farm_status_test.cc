#include "podere/controller/farm_status.h"

#include <gtest/gtest.h>

#include "podere/controller/histories.h"
#include "podere/controller/test_objects.h"
#include "podere/farm/explain.h"

namespace podere::controller {
namespace {

/// A node of four cores that hep/cms fills; hep/geo wants three, of which two are guaranteed.
class FarmStatusTest : public testing::Test {
 protected:
  FarmStatusTest() {
    cluster_.add_node(test_node("n1", 4))
        .add_farm(test_farm("hep", "cms", 4, 1))
        .add_farm(test_farm("hep", "geo", 3, 2));
    for (int i = 0; i < 4; ++i) cluster_.add_pod(test_pod("hep", fmt::format("cms-{}", i), "farm-cms", "n1"));
  }
  FarmStatus status_of(std::int32_t farm) {
    const auto built = cluster_.state();
    const auto decision = farm::decide(built.state, {});
    FarmStatus status = counted_status(built.state, decision, farm, {.wanted = {}, .guaranteed = farm == 0 ? 1 : 2});
    status.message = farm::sentences(built.state, decision)[static_cast<std::size_t>(farm)];
    return status;
  }

  TestCluster cluster_;
};

TEST_F(FarmStatusTest, CountsWhatStaysWhatGoesAndWhatIsMissing) {
  const FarmStatus gives = status_of(0);
  EXPECT_EQ(gives.running, 2);
  EXPECT_EQ(gives.executors, 2);
  EXPECT_EQ(gives.terminating, 2);
  EXPECT_EQ(gives.over_guarantee, 1);
  const FarmStatus waits = status_of(1);
  EXPECT_EQ(waits.running, 0);
  EXPECT_EQ(waits.pending, 3);
  EXPECT_EQ(waits.conditions[0].type, "GuaranteeMet");
  EXPECT_FALSE(waits.conditions[0].holds);
  EXPECT_EQ(waits.conditions[0].reason, "WaitsForDrain");
  EXPECT_EQ(waits.conditions[1].type, "Ready");
  EXPECT_EQ(waits.conditions[1].reason, "WaitsForDrain");
  EXPECT_NE(waits.message.find("hep/cms (2), done within 60 s"), std::string::npos) << waits.message;
}

TEST_F(FarmStatusTest, SaysInAWordWhatWhoIsNotReadyWaitsFor) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 2)).add_farm(test_farm("hep", "cms", 3, 0));
  const auto reason = [&](std::optional<std::int32_t> wanted) {
    const auto built = cluster.state();
    return counted_status(built.state, farm::decide(built.state, {}), 0, {.wanted = wanted}).conditions[1].reason;
  };
  EXPECT_EQ(reason({}), "Starts") << "two have room";
  for (const char* const name : {"cms-0", "cms-1"}) cluster.add_pod(test_pod("hep", name, "farm-cms", "n1"));
  EXPECT_EQ(reason({}), "NoRoom");
  EXPECT_EQ(reason(5), "NoRoom");
  EXPECT_EQ(reason(2), "AllReady");
}

TEST_F(FarmStatusTest, AConditionKeepsTheTimeSinceWhenItHolds) {
  FarmStatus status = status_of(1);
  const Json first = json_of(status, Json::object(), kTestNow);
  const Json second = json_of(status, first, kTestNow + 50);
  EXPECT_EQ(second["conditions"][0]["lastTransitionTime"], time_text(kTestNow));
  status.conditions[0].holds = true;
  EXPECT_EQ(json_of(status, second, kTestNow + 50)["conditions"][0]["lastTransitionTime"], time_text(kTestNow + 50));
}

TEST_F(FarmStatusTest, TimeThatPassesIsNoNews) {
  FarmStatus status = status_of(1);
  const Json before = json_of(status, Json::object(), kTestNow);
  status.history.usage = 7;
  status.message.replace(status.message.find("60 s"), 4, "3 s");
  EXPECT_FALSE(has_changed(json_of(status, before, kTestNow + 57), before));
  status.history.rooms_owed = 1;
  EXPECT_TRUE(has_changed(json_of(status, before, kTestNow + 57), before));
  status.history.rooms_owed = 0;
  status.running = 1;
  EXPECT_TRUE(has_changed(json_of(status, before, kTestNow + 57), before));
}

TEST_F(FarmStatusTest, HistorySurvivesInTheStatus) {
  FarmStatus status = status_of(1);
  status.history = {.usage = 1.25e6,
                    .settled_usage = 0.1,
                    .epoch = 7,
                    .shares_owed = 3,
                    .rooms_owed = 2,
                    .last_freed = 5,
                    .short_since = 4,
                    .has_started = true};
  const auto kept = history_of(Json::parse(json_of(status, Json::object(), kTestNow).dump()));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->at, kTestNow);
  EXPECT_EQ(kept->history.usage, 1.25e6);
  EXPECT_EQ(kept->history.settled_usage, 0.1);
  EXPECT_EQ(kept->history.epoch, 7);
  EXPECT_EQ(kept->history.shares_owed, 3);
  EXPECT_EQ(kept->history.rooms_owed, 2);
  EXPECT_EQ(kept->history.short_since, 4);
  EXPECT_TRUE(kept->history.has_started);
  EXPECT_FALSE(history_of(Json::object()));
  EXPECT_FALSE(history_of({{"history", {{"at", "yesterday"}, {"usage", -1}}}}));
}

TEST_F(FarmStatusTest, PodsThatDoNotEndAreNamed) {
  Json stuck = test_pod("hep", "cms-0", "farm-cms", "n1");
  stuck["metadata"]["deletionTimestamp"] = time_text(kTestNow - 400);
  cluster_.add_pod(stuck);
  const std::string message = stuck_pods(cluster_.view(), cluster_.state(), {}, 0);
  EXPECT_NE(message.find("cms-0 on node n1"), std::string::npos) << message;
  EXPECT_EQ(stuck_pods(cluster_.view(), cluster_.state(), {}, 1), "");
}

TEST(Histories, RoomThatWasFreedIsOwedUntilItIsUsed) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 4)).add_farm(test_farm("hep", "cms", 4, 1)).add_farm(test_farm("hep", "geo", 3, 2));
  Json reclaimed = test_pod("hep", "cms-0", "farm-cms", "n1");
  reclaimed["metadata"]["annotations"] = {{kReclaimedFor, "hep/geo"}, {kReclaimDeadline, time_text(kTestNow)}};
  cluster.add_pod(test_pod("hep", "cms-1", "farm-cms", "n1"));
  TestCluster before = cluster;
  before.add_pod(reclaimed);
  const auto none = [](std::size_t) { return std::optional<KeptHistory>(); };
  Histories histories;
  farm::State first = before.state().state;
  histories.advance(first, {}, none);
  histories.remember(first);
  farm::State second = cluster.state().state;
  second.now += 10;
  histories.advance(second, {}, none);
  EXPECT_EQ(second.farms[1].history.rooms_owed, 1);
  EXPECT_NEAR(second.farms[0].history.usage, 20, 0.1) << "two stood for 10 s";
  histories.remember(second);
  cluster.add_pod(test_pod("hep", "geo-0", "farm-geo", "n1"));
  farm::State third = cluster.state().state;
  third.now += 11;
  histories.advance(third, {}, none);
  EXPECT_EQ(third.farms[1].history.rooms_owed, 0);
}

TEST(Histories, AFarmThatIsNewIsWhatItsStatusSays) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 4)).add_farm(test_farm("hep", "cms", 4, 1));
  cluster.add_pod(test_pod("hep", "cms-0", "farm-cms", "n1"));
  farm::State state = cluster.state().state;
  Histories().advance(state, {.half_life_seconds = 1000}, [](std::size_t) {
    return KeptHistory{{.usage = 500}, kTestNow - 1000};
  });
  EXPECT_NEAR(state.farms[0].history.usage, 250 + 721, 1) << "half is forgotten, one executor ran for a half-life";
}

}  // namespace
}  // namespace podere::controller
