#include "podere/controller/cluster_state.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"
#include "podere/farm/policy.h"

namespace podere::controller {
namespace {

using farm::Phase;

TEST(ClusterState, HasEachPodAtItsFarmAndOthersAtTheirNodes) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_node(test_node("n2", 8));
  cluster.add_farm(test_farm("hep", "cms", 3, 2)).add_farm(test_farm("astro", "sky", 5, 4));
  cluster.add_pod(test_pod("hep", "cms-0", "farm-cms", "n2"));
  cluster.add_pod(test_pod("hep", "cms-1", "farm-cms"));
  cluster.add_pod(test_pod("kube-system", "dns", "", "n1"));
  const ClusterState built = cluster.state();
  const farm::State& state = built.state;
  farm::check(state);
  ASSERT_EQ(state.farms.size(), 2U);
  EXPECT_EQ(state.farms[1].key, "hep/cms");
  EXPECT_EQ(state.farms[1].wanted, 3);
  EXPECT_EQ(state.farms[1].guaranteed, 2);
  EXPECT_TRUE(state.farms[1].has_template());
  ASSERT_EQ(state.pods.size(), 2U);
  EXPECT_EQ(state.pods[0].farm, 1);
  EXPECT_EQ(state.pods[0].node, 1);
  EXPECT_EQ(state.pods[0].phase, Phase::kReady);
  EXPECT_EQ(state.pods[0].ready_since, kTestNow - 100);
  EXPECT_EQ(state.pods[1].phase, Phase::kWaiting);
  EXPECT_EQ(state.nodes[0].used_by_others.amounts[0], 1000);
  EXPECT_EQ(state.nodes[0].used_by_others.amounts[2], 1) << "a pod uses one of those a node can have";
  EXPECT_EQ(state.nodes[1].used_by_others, farm::Resources{});
  EXPECT_EQ(state.shapes.size(), 1U) << "template and pods need the same";
}

TEST(ClusterState, PodsOfFarmsOutOfScopeAreOthers) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_farm(test_farm("hep", "cms", 3, 2)).add_farm(test_farm("hep", "geo", 3, 2));
  cluster.add_pod(test_pod("hep", "cms-0", "farm-cms", "n1")).add_pod(test_pod("hep", "geo-0", "farm-geo", "n1"));
  const ClusterView view = cluster.view();
  const ClusterState built = cluster_state(view, find_owners(view), {.farms = {1}}, kTestNow);
  ASSERT_EQ(built.state.pods.size(), 1U);
  EXPECT_EQ(built.state.pods[0].uid, "uid-geo-0");
  EXPECT_EQ(built.state.nodes[0].used_by_others.amounts[0], 1000);
}

TEST(ClusterState, AReclaimedPodSaysForWhichFarmAndUntilWhen) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_farm(test_farm("hep", "cms", 3, 2)).add_farm(test_farm("hep", "geo", 3, 2));
  Json pod = test_pod("hep", "cms-0", "farm-cms", "n1");
  pod["metadata"]["annotations"] = {{kReclaimedFor, "hep/geo"},
                                    {kReclaimedForGuarantee, "false"},
                                    {kReclaimDeadline, time_text(kTestNow + 30)},
                                    {kCheckpointed, time_text(kTestNow - 7)}};
  cluster.add_pod(pod);
  Json ending = pod;
  ending["metadata"]["name"] = ending["metadata"]["uid"] = "cms-1";
  ending["metadata"]["deletionTimestamp"] = time_text(kTestNow + 31);
  ending["metadata"]["annotations"][kReclaimedFor] = "hep/absent";
  cluster.add_pod(ending);
  const auto pods = cluster.state().state.pods;
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_TRUE(pods[0].is_reclaimed);
  EXPECT_EQ(pods[0].reclaimed_for, 1);
  EXPECT_FALSE(pods[0].for_guarantee);
  EXPECT_EQ(pods[0].deadline, kTestNow + 30);
  EXPECT_EQ(pods[0].checkpointed, kTestNow - 7);
  EXPECT_EQ(pods[1].phase, Phase::kEnding);
  EXPECT_EQ(pods[1].reclaimed_for, -1) << "that farm is no more";
  EXPECT_EQ(pods[1].deadline, kTestNow + 31);
}

TEST(ClusterState, FinishedPodsHoldNoRoomAndDriversAreNoExecutors) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_farm(test_farm("hep", "cms", 3, 2));
  Json done = test_pod("hep", "cms-0", "farm-cms", "n1");
  done["status"]["phase"] = "Failed";
  Json driver = test_pod("hep", "a-driver", "", "n1");
  driver["metadata"]["labels"]["spark-role"] = "driver";
  driver["metadata"]["labels"][kFarmLabel] = "cms";
  Json calls_itself_driver = test_pod("hep", "cms-1", "farm-cms", "n1");
  calls_itself_driver["metadata"]["labels"][kRoleLabel] = "driver";
  cluster.add_pod(done).add_pod(driver).add_pod(calls_itself_driver);
  const auto state = cluster.state().state;
  ASSERT_EQ(state.pods.size(), 2U);
  EXPECT_TRUE(state.pods[0].is_driver);
  EXPECT_FALSE(state.pods[1].is_driver) << "a farm with such a template would make executors for ever";
}

TEST(ClusterState, AFarmAdoptsPodsOfItsNamespaceBySelector) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_farm(test_adopting_farm("hep", "spark", "app", "test"));
  cluster.add_pod(test_pod("hep", "exec-1", "", "n1")).add_pod(test_pod("bio", "exec-1", "", "n1"));
  cluster.add_pod(test_pod("hep", "other", "farm-gone", "n1"));
  const auto state = cluster.state().state;
  ASSERT_EQ(state.pods.size(), 1U) << "not those elsewhere, nor those that a farm made which is no more";
  EXPECT_FALSE(state.farms[0].has_template());
  EXPECT_EQ(farm::decide(state, {}).outlooks[0].demand, 1) << "it wants what is there";
}

TEST(ClusterState, APodThatTwoFarmsSelectBelongsToTheFirstAndBothStatusesSaySo) {
  TestCluster cluster;
  cluster.add_farm(test_adopting_farm("hep", "b", "app", "test"))
      .add_farm(test_adopting_farm("hep", "a", "app", "test"));
  cluster.add_pod(test_pod("hep", "exec-1", ""));
  const Ownership owners = find_owners(cluster.view());
  EXPECT_EQ(owners.farm_of_pod, std::vector<std::int32_t>{0});
  EXPECT_EQ(owners.shared_with.at(0), std::set<std::int32_t>{1});
  EXPECT_EQ(owners.shared_with.at(1), std::set<std::int32_t>{0});
}

TEST(ClusterState, ShapesKnowWhereTheyMayRun) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 8)).add_node(test_node("n2", 8, {{"gpu", "yes"}}));
  Json farm = test_farm("hep", "cms", 3, 2);
  farm["spec"]["template"]["spec"]["nodeSelector"] = {{"gpu", "yes"}};
  cluster.add_farm(farm);
  const auto state = cluster.state().state;
  const auto& nodes = state.node_sets.at(static_cast<std::size_t>(state.shapes.at(0).node_set));
  EXPECT_FALSE(nodes.contains(0));
  EXPECT_TRUE(nodes.contains(1));
}

TEST(ClusterState, AtMostEightResourcesAreCounted) {
  TestCluster cluster;
  Json farm = test_farm("hep", "cms", 3, 2);
  for (int i = 0; i < 7; ++i) {
    farm["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"][fmt::format("example.com/r{}", i)] = "1";
  }
  cluster.add_farm(farm);
  const ClusterState built = cluster.state();
  EXPECT_EQ(built.state.resources.size(), 8U);
  EXPECT_EQ(built.ignored_resources, (std::vector<std::string>{"example.com/r5", "example.com/r6"}));
}

TEST(ClusterState, APodOnANodeThatIsNotKnownIsHeldThere) {
  TestCluster cluster;
  cluster.add_farm(test_farm("hep", "cms", 1, 1)).add_pod(test_pod("hep", "cms-0", "farm-cms", "new"));
  const auto state = cluster.state().state;
  farm::check(state);
  const auto decision = farm::decide(state, {});
  EXPECT_EQ(decision.outlooks[0].held, 1);
  EXPECT_TRUE(decision.creations.empty()) << "its node may only not have been reported yet";
}

TEST(ClusterState, NothingIsReclaimedForAFarmWhosePodsAreNotMade) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 4)).add_farm(test_farm("hep", "cms", 4, 0)).add_farm(test_farm("hep", "geo", 3, 2));
  for (int i = 0; i < 4; ++i) cluster.add_pod(test_pod("hep", fmt::format("cms-{}", i), "farm-cms", "n1"));
  EXPECT_EQ(farm::decide(cluster.state().state, {}).reclaims.size(), 2U);
  const ClusterView view = cluster.view();
  const Scope blocked{.farms = {0, 1}, .blocked = {"farm-geo"}};
  EXPECT_TRUE(farm::decide(cluster_state(view, find_owners(view), blocked, kTestNow).state, {}).reclaims.empty());
  const Scope unmanaged{.farms = {0, 1}, .has_guarantees = false};
  EXPECT_TRUE(farm::decide(cluster_state(view, find_owners(view), unmanaged, kTestNow).state, {}).reclaims.empty());
}

TEST(ClusterState, FarmsOfNoManagerReclaimNothingByTheirPriorities) {
  TestCluster cluster;
  Json low = test_farm("hep", "cms", 2, 0);
  low["spec"]["priority"] = -5;  // which no ceiling forbids
  cluster.add_node(test_node("n1", 2)).add_farm(low).add_farm(test_farm("hep", "geo", 2, 0));
  for (int i = 0; i < 2; ++i) cluster.add_pod(test_pod("hep", fmt::format("cms-{}", i), "farm-cms", "n1"));
  EXPECT_EQ(farm::decide(cluster.state().state, {}).reclaims.size(), 2U);
  const ClusterView view = cluster.view();
  const Scope unmanaged{.farms = {0, 1}, .has_guarantees = false};
  EXPECT_TRUE(farm::decide(cluster_state(view, find_owners(view), unmanaged, kTestNow).state, {}).reclaims.empty());
}

TEST(ClusterState, ATemplateThatIsNoneIsReportedAndAsksForNothing) {
  TestCluster cluster;
  Json farm = test_farm("hep", "cms", 3, 2);
  farm["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "many";
  cluster.add_node(test_node("n1", 8)).add_farm(farm);
  EXPECT_NE(cluster.view().farms[0].second->fault.find("many"), std::string::npos);
  EXPECT_TRUE(farm::decide(cluster.state().state, {}).creations.empty());
}

TEST(FarmObject, WarnsOfATemplateWithoutRequests) {
  NeedsTable table;
  Json farm = test_farm("hep", "cms", 3, 2);
  Json& resources = farm["spec"]["template"]["spec"]["containers"][0]["resources"];
  resources = {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}}};
  EXPECT_EQ(farm_object_of(farm, table).warning, "");
  resources = {{"limits", {{"cpu", "1"}}}};
  EXPECT_EQ(farm_object_of(farm, table).warning,
            "the template requests no memory: its executors count as using none, and too many fit on a node");
  resources = nullptr;
  EXPECT_EQ(
      farm_object_of(farm, table).warning,
      "the template requests no cpu and no memory: its executors count as using none, and too many fit on a node");
}

TEST(HoldDemand, AsksForWhatStays) {
  TestCluster cluster;
  cluster.add_node(test_node("n1", 4)).add_farm(test_farm("hep", "cms", 4, 1));
  for (const char* const name : {"cms-0", "cms-1"}) cluster.add_pod(test_pod("hep", name, "farm-cms", "n1"));
  farm::State state = cluster.state().state;
  state.pods[1].is_reclaimed = true;
  hold_demand(state, 0);
  EXPECT_EQ(state.farms[0].asked(), 1);
}

}  // namespace
}  // namespace podere::controller
