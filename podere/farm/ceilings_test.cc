#include "podere/farm/ceilings.h"

#include <gtest/gtest.h>

#include "podere/farm/explain.h"
#include "podere/farm/test_cluster.h"

namespace podere::farm {
namespace {

/// Room for 100, a farm of a reasonable guarantee and one of an unreasonable one, which fills the cluster.
struct CappedCluster : TestCluster {
  CappedCluster() {
    add_node(100);
    sky = add_farm("astro/sky", 20, 20);
    eve = add_farm("hep/eve", 1000, 900);
    add_pods(eve, 100, 0);
  }
  Outlook outlook(std::int32_t farm) const { return decide().outlooks[static_cast<std::size_t>(farm)]; }
  std::string sentence(std::int32_t farm) const { return sentences(state, decide())[static_cast<std::size_t>(farm)]; }

  std::int32_t sky, eve;
};

TEST(Ceilings, CutGuaranteesAndSaySo) {
  CappedCluster cluster;
  cluster.state.ceilings = {{.name = "namespace hep on FarmManager default", .farms = {cluster.eve}, .guaranteed = 30}};
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 30);
  EXPECT_EQ(cluster.decide().reclaims.size(), 20U) << "borrowed room is reclaimed as ever";
  const std::string counts = "minExecutors 1000 counts as 30: the ceiling of namespace hep on FarmManager default";
  EXPECT_NE(cluster.sentence(cluster.eve).find(counts), std::string::npos) << cluster.sentence(cluster.eve);
  EXPECT_EQ(cluster.sentence(cluster.sky).find("counts as"), std::string::npos);
  cluster.state.farms[1].wanted = 5;
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 5);
  EXPECT_NE(cluster.sentence(cluster.eve).find(counts), std::string::npos) << "also while it wants less";
}

TEST(Ceilings, AreSharedInEqualPartsByWhoAsksForMore) {
  CappedCluster cluster;
  const auto lab = cluster.add_farm("hep/lab", 5, 0);
  cluster.state.ceilings = {{.name = "hep", .farms = {cluster.eve, lab}, .guaranteed = 30}};
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 30) << "the other asks for none";
  EXPECT_EQ(cluster.outlook(lab).allowed, 5);
  cluster.state.farms[2].wanted = 9;
  EXPECT_EQ(cluster.outlook(lab).guaranteed, 5);
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 25);
  cluster.state.farms[2] = {.key = "hep/lab", .guaranteed = 900, .wanted = 900, .maximum = 900, .template_shape = 0};
  EXPECT_EQ(cluster.outlook(lab).guaranteed, 15);
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 15);
}

TEST(Ceilings, OfAGroupAndOfANamespaceInItBothCount) {
  CappedCluster cluster;
  cluster.state.farms[0].guaranteed = 18;
  cluster.state.ceilings = {{.name = "group physics", .farms = {cluster.sky, cluster.eve}, .guaranteed = 25},
                            {.name = "namespace hep", .farms = {cluster.eve}, .guaranteed = 10}};
  EXPECT_EQ(cluster.outlook(cluster.sky).guaranteed, 15);
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 10);
  EXPECT_NE(cluster.sentence(cluster.sky).find("minExecutors 18 counts as 15: the ceiling of group physics"),
            std::string::npos);
  EXPECT_NE(cluster.sentence(cluster.eve).find("the ceiling of namespace hep"), std::string::npos);
}

TEST(Ceilings, LeaveOthersTheirsWhereExecutorsFitNowhere) {
  CappedCluster cluster;
  const auto huge = cluster.add_farm("hep/huge", 30, 30, cluster.add_shape(101));
  cluster.state.ceilings = {{.name = "hep", .farms = {cluster.eve, huge}, .guaranteed = 30, .maximum = 60}};
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 30);
  EXPECT_EQ(cluster.outlook(cluster.eve).demand, 60);
  EXPECT_EQ(cluster.outlook(huge).guaranteed, 15) << "it waits for a node all the same";
  EXPECT_EQ(cluster.outlook(huge).guarantee.too_large, 15);
  EXPECT_NE(cluster.sentence(huge).find("minExecutors 30 counts as 15: the ceiling of hep"), std::string::npos);
  cluster.add_node(101);
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 15);
  EXPECT_EQ(cluster.outlook(huge).allowed, 15);
  cluster.add_pods(huge, 1, 1, 1);
  cluster.state.nodes[1].is_schedulable = false;
  EXPECT_EQ(cluster.outlook(cluster.eve).guaranteed, 29) << "what is there counts";
}

TEST(Ceilings, CutWhatIsWantedButNoGuaranteeForIt) {
  CappedCluster cluster;
  const auto lab = cluster.add_farm("hep/lab", 12, 15);
  cluster.state.farms[1].guaranteed = 2;
  cluster.state.ceilings = {{.name = "namespace hep", .farms = {cluster.eve, lab}, .maximum = 20}};
  EXPECT_EQ(cluster.outlook(lab).demand, 15);
  EXPECT_EQ(cluster.outlook(cluster.eve).demand, 5);
  EXPECT_EQ(cluster.decide().removals.size(), 95U) << "executors beyond the ceiling drain";
  EXPECT_NE(cluster.sentence(cluster.eve).find("executors 900 counts as 5: the ceiling of namespace hep"),
            std::string::npos)
      << cluster.sentence(cluster.eve);
}

TEST(Ceilings, OfNothingLetAFarmBorrowOnly) {
  CappedCluster cluster;
  cluster.state.ceilings = {{.name = "namespace hep", .farms = {cluster.eve}, .guaranteed = 0}};
  const Outlook outlook = cluster.outlook(cluster.eve);
  EXPECT_EQ(outlook.guaranteed, 0);
  EXPECT_EQ(outlook.held, 80);
}

TEST(Ceilings, NothingThatRunsEndsForWhatCannotRun) {
  CappedCluster cluster;
  const auto lab = cluster.add_farm("hep/lab", 0, 90);
  cluster.state.pods.clear();
  cluster.add_pods(cluster.eve, 8, 0);
  cluster.state.farms[1].guaranteed = 0;
  cluster.state.nodes[0].is_schedulable = false;  // cordoned: all that is asked for beside waits for it
  cluster.state.ceilings = {{.name = "namespace hep", .farms = {cluster.eve, lab}, .maximum = 10}};
  EXPECT_EQ(cluster.outlook(cluster.eve).demand, 8) << "not an equal part, 5";
  EXPECT_TRUE(cluster.decide().removals.empty());
  cluster.state.nodes[0].is_schedulable = true;
  EXPECT_EQ(cluster.outlook(cluster.eve).demand, 5);
}

}  // namespace
}  // namespace podere::farm
