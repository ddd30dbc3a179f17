#include "podere/controller/limits.h"

#include <gtest/gtest.h>

#include "podere/controller/farm_status.h"
#include "podere/controller/test_objects.h"
#include "podere/farm/explain.h"

namespace podere::controller {
namespace {

const Json kSpec = Json::parse(R"({
  "maxDrainSeconds": 200,
  "ceilings": [
    {"name": "each", "minExecutors": 4, "weight": 1},
    {"name": "hep", "namespaces": ["hep"], "minExecutors": 3, "drainSeconds": 500, "minRuntimeSeconds": 60},
    {"name": "course", "namespaces": ["course-*"], "maxExecutors": 6, "priority": -5},
    {"name": "physics", "namespaces": ["hep", "bio"], "priority": 100}
  ]})");

/// A farm for 64 executors, with numbers that no administrator wants.
Json greedy_farm(const std::string& in_namespace, const std::string& name) {
  Json farm = test_farm(in_namespace, name, 100'000, 100'000);
  farm["spec"]["drainSeconds"] = 86400;
  farm["spec"]["minRuntimeSeconds"] = 604800;
  farm["spec"]["weight"] = 1000;
  return farm;
}

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() { cluster_.add_node(test_node("n1", 64)); }
  /// What counts of farms, in the order of their keys.
  farm::Decision decide(const Json& spec) {
    built_ = cluster_.state(limits_of(spec, "default"));
    farm::check(built_.state);
    return farm::decide(built_.state, {});
  }
  const farm::Farm& farm(std::size_t f) const { return built_.state.farms[f]; }

  TestCluster cluster_;
  ClusterState built_;
};

TEST_F(LimitsTest, OfAManagerThatSaysNothingAreOfSecondsOnly) {
  cluster_.add_farm(greedy_farm("eve", "a"));
  const auto decision = decide(Json::object());
  EXPECT_EQ(decision.outlooks[0].allowed, 100'000);
  EXPECT_EQ(farm(0).drain_seconds, 300);
  EXPECT_EQ(farm(0).min_runtime_seconds, 3600);
  EXPECT_EQ(farm(0).weight, 1000);
  EXPECT_EQ(built_.limited.remarks[0],
            (std::vector<std::string>{"minRuntimeSeconds 604800 counts as 3600: the ceiling of FarmManager default",
                                      "drainSeconds 86400 counts as 300: the ceiling of FarmManager default"}));
}

TEST_F(LimitsTest, OfANamespaceCountInPlaceOfThoseOfEach) {
  cluster_.add_farm(greedy_farm("astro", "b")).add_farm(greedy_farm("hep", "c"));
  const auto decision = decide(kSpec);
  EXPECT_EQ(decision.outlooks[0].guaranteed, 4);
  EXPECT_EQ(decision.outlooks[1].guaranteed, 3);
  EXPECT_EQ(farm(0).drain_seconds, 200);
  EXPECT_EQ(farm(1).drain_seconds, 500) << "its own, though it is more than the manager's";
  EXPECT_EQ(built_.limited.drain_seconds, (std::vector<double>{200, 500}));
  EXPECT_EQ(farm(1).min_runtime_seconds, 60);
  EXPECT_EQ(farm(1).weight, 1000) << "of which its ceiling says nothing";
  const auto sentences = farm::sentences(built_.state, decision);
  EXPECT_NE(sentences[0].find("minExecutors 100000 counts as 4: the ceiling of namespace astro on FarmManager default"),
            std::string::npos)
      << sentences[0];
  EXPECT_NE(sentences[1].find("counts as 3: the ceiling of namespace hep on FarmManager default"), std::string::npos);
}

TEST_F(LimitsTest, OfEachNamespaceAreOfItByItself) {
  for (const char* const name : {"a", "b"})
    cluster_.add_farm(greedy_farm("astro", name)).add_farm(greedy_farm("geo", name));
  Json idle = greedy_farm("astro", "idle");
  idle["spec"]["executors"] = 0;
  cluster_.add_farm(idle);
  const auto decision = decide(kSpec);
  for (const std::size_t f : {0, 1, 3, 4}) {
    EXPECT_EQ(decision.outlooks[f].guaranteed, 2) << f;
    EXPECT_EQ(farm(f).weight, 0.5) << f;
  }
}

TEST_F(LimitsTest, OfAGroupAreOfAllItsNamespacesTogether) {
  cluster_.add_farm(greedy_farm("course-ada", "a")).add_farm(test_farm("course-alan", "b", 2, 0));
  const auto decision = decide(kSpec);
  EXPECT_EQ(decision.outlooks[0].demand + decision.outlooks[1].demand, 6);
  EXPECT_EQ(decision.outlooks[0].guaranteed, 6) << "no more than it may have";
  const auto sentences = farm::sentences(built_.state, decision);
  EXPECT_NE(sentences[0].find("the ceiling of group course on FarmManager default"), std::string::npos) << sentences[0];
}

TEST_F(LimitsTest, LetAGuaranteeBeMetThatCountsForLess) {
  cluster_.add_farm(greedy_farm("hep", "c"));
  for (int i = 0; i < 3; ++i) cluster_.add_pod(test_pod("hep", fmt::format("c-{}", i), "farm-c", "n1"));
  const auto decision = decide(kSpec);
  const FarmStatus status = counted_status(built_.state, decision, 0, {.wanted = 100'000, .guaranteed = 100'000});
  EXPECT_TRUE(status.conditions[0].holds) << status.conditions[0].message;
}

TEST_F(LimitsTest, CutPrioritiesToThoseThatTheAdministratorAllows) {
  for (const char* const in_namespace : {"astro", "course-ada", "hep"}) {
    Json farm = test_farm(in_namespace, "a", 1, 0);
    farm["spec"]["priority"] = 200;
    cluster_.add_farm(farm);
  }
  cluster_.add_farm(test_farm("course-alan", "b", 1, 0));
  decide(kSpec);
  EXPECT_EQ(farm(0).priority, 0);
  EXPECT_EQ(farm(1).priority, -5);
  EXPECT_EQ(farm(2).priority, -5) << "though it asks for none";
  EXPECT_EQ(farm(3).priority, 100);
  EXPECT_EQ(built_.limited.remarks[0].back(), "priority 200 counts as 0: the ceiling of FarmManager default");
  EXPECT_EQ(built_.limited.remarks[3].back(),
            "priority 200 counts as 100: the ceiling of group physics on FarmManager default");
  decide({{"maxPriority", 7}});
  EXPECT_EQ(farm(0).priority, 7);
}

TEST_F(LimitsTest, CutDeadlinesThatUsersWrite) {
  cluster_.add_farm(test_farm("hep", "c", 1, 0));
  Json pod = test_pod("hep", "c-0", "farm-c", "n1");
  pod["metadata"]["annotations"] = {{kReclaimDeadline, "2099-01-01T00:00:00Z"}};
  cluster_.add_pod(pod);
  decide(Json::object());
  EXPECT_EQ(built_.state.pods[0].deadline, kTestNow + 300);
}

}  // namespace
}  // namespace podere::controller
