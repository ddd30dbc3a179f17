#include "podere/farm/simulation.h"

#include <gtest/gtest.h>

#include "podere/farm/original.h"
#include "podere/farm/test_cluster.h"

namespace podere::farm {
namespace {

SimulationReport run(const Trace& trace, Mode mode = Mode::kProportional) {
  return simulate(trace, {.policy = {.mode = mode}});
}

/// Ten rooms, all borrowed by hep when astro asks for the four it is guaranteed.
constexpr const char* kTwoFarms = R"(
{"model": {"start_seconds": 10, "checkpoint_seconds": 60, "until": 2000}}
{"at": 0, "node": "n1", "cpu": 10}
{"at": 0, "farm": "hep/cms", "guaranteed": 4, "wanted": 10, "drain_seconds": 40, "executor": {"cpu": 1}}
{"at": 600, "farm": "astro/sky", "guaranteed": 4, "wanted": 4, "executor": {"cpu": 1}}
)";

TEST(Simulation, MeetsAGuaranteeAfterTheDrain) {
  const SimulationReport report = run(parse_trace(kTwoFarms, "t"));
  EXPECT_EQ(report.simulated, 2000);
  EXPECT_EQ(report.waits, 2U);
  EXPECT_EQ(report.waits_unfinished, 0U);
  EXPECT_LT(report.wait_longest, 40 + 20);
  EXPECT_GT(report.wait_longest, 4);
  EXPECT_EQ(report.reclaimed, 4U);
  EXPECT_EQ(report.reclaimed_needlessly, 0);
  EXPECT_EQ(report.started, 14U);
  EXPECT_EQ(report.returned + report.cycles, 0U);
  EXPECT_GT(report.utilization, 0.97);
}

TEST(Simulation, LetsAHigherPriorityBorrowFirst) {
  std::string text = kTwoFarms;
  const std::string last = R"("guaranteed": 4, "wanted": 4)";
  text.replace(text.rfind(last), last.size(), R"("priority": 3, "wanted": 9)");
  const SimulationReport report = run(parse_trace(text, "t"));
  EXPECT_EQ(report.reclaimed, 0U);
  EXPECT_EQ(report.reclaimed_for_shares, 6U) << "all that is borrowed";
  EXPECT_EQ(report.started, 16U);
  EXPECT_EQ(report.returned + report.cycles, 0U);
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  const Trace trace = random_trace({.farms = 10, .nodes = 5, .slots = 6});
  const SimulationReport a = run(trace);
  const SimulationReport b = run(trace);
  EXPECT_EQ(a.decisions, b.decisions);
  EXPECT_EQ(a.wait_p99, b.wait_p99);
  EXPECT_EQ(a.work_lost, b.work_lost);
  EXPECT_NE(simulate(trace, {.policy = {}, .seed = 2}).wait_p99, a.wait_p99);
}

TEST(Simulation, ReclaimsNoMoreThanIsNeededAndMakesNoCycles) {
  for (const double adopted : {0.0, 0.3}) {
    const Trace trace = random_trace(
        {.farms = 30, .nodes = 20, .slots = 8, .hours = 4, .guaranteed = 0.7, .adopted = adopted, .node_losses = 2});
    for (const Mode mode : {Mode::kProportional, Mode::kFairShare, Mode::kHistoryAware}) {
      const SimulationReport report = run(trace, mode);
      EXPECT_GT(report.reclaimed, 20U);
      EXPECT_EQ(report.reclaimed_needlessly, 0);
      // Room freed for guarantees goes to pods that others make now and then, in any mode: nothing can be held for
      // them.
      EXPECT_LE(report.cycles, adopted == 0 ? 0 : (report.reclaimed + report.reclaimed_for_shares) / 50);
      EXPECT_LE(report.returned, (report.reclaimed + report.reclaimed_for_shares) / (adopted == 0 ? 20 : 2));
    }
  }
}

TEST(Simulation, SharesBorrowedRoomMoreFairlyInFairShareMode) {
  const Trace trace = random_trace({.farms = 30, .nodes = 10, .slots = 10, .hours = 4, .guaranteed = 0.3});
  EXPECT_GT(run(trace, Mode::kFairShare).fairness, run(trace, Mode::kProportional).fairness);
}

TEST(Simulation, ShowsWhatTheOriginalDidWrong) {
  const Trace trace = random_trace({.farms = 30, .nodes = 20, .slots = 8, .hours = 4, .guaranteed = 0.7});
  const SimulationReport original = simulate(trace, {.policy = {}, .is_original = true});
  const SimulationReport report = run(trace);
  EXPECT_GT(original.reclaimed_needlessly, 0);
  EXPECT_GT(original.reclaimed, 2 * report.reclaimed);
  EXPECT_GT(original.returned, 0U);
  EXPECT_GT(original.work_lost, report.work_lost);
  EXPECT_GT(original.utilization, 0) << "no executor leaves twice";
  EXPECT_LE(original.utilization, 1);
}

TEST(Simulation, LivesThroughNodesThatGo) {
  std::string text = kTwoFarms;
  text += R"({"at": 700, "node": "n1", "gone": true})"
          "\n";
  text += R"({"at": 900, "node": "n2", "cpu": 4})"
          "\n";
  const SimulationReport report = run(parse_trace(text, "t"));
  EXPECT_EQ(report.started, 18U);
  EXPECT_EQ(report.waits_unfinished, 2U) << "four rooms for eight that are guaranteed";
}

TEST(Original, RoundsUpInEachFarm) {
  TestCluster cluster;
  cluster.add_node(6);
  for (const char* key : {"a", "b", "c"}) cluster.add_pods(cluster.add_farm(key, 1, 2), 2, 0);
  cluster.add_pods(cluster.add_farm("needy", 1, 1), 1, -1);
  EXPECT_EQ(decide_as_original(cluster.state).reclaims.size(), 3U);
  EXPECT_EQ(cluster.decide().reclaims.size(), 1U);
}

}  // namespace
}  // namespace podere::farm
