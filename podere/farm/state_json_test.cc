#include "podere/farm/state_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/farm/cluster_json.h"
#include "podere/farm/test_cluster.h"
#include "podere/farm/what_if.h"

namespace podere::farm {
namespace {

TestCluster full_cluster() {
  TestCluster cluster;
  cluster.add_node(3);
  const auto a = cluster.add_farm("hep/cms", 1, 3);
  cluster.add_farm("astro/sky", 2, 0);
  cluster.add_pods(a, 3, 0);
  return cluster;
}

TEST(StateJson, IsTheSameWrittenAndReadAgain) {
  TestCluster cluster = full_cluster();
  cluster.last_pod().is_reclaimed = true;
  cluster.last_pod().reclaimed_for = 1;
  cluster.last_pod().deadline = 1030;
  cluster.state.ceilings = {{.name = "a", .farms = {1, 0}, .guaranteed = 2}, {.name = "b", .farms = {}, .maximum = 7}};
  cluster.state.farms[1].priority = -7;
  cluster.state.farms[1].is_gang = cluster.state.farms[0].history.has_started = true;
  cluster.add_pods(1, 1, -1);
  cluster.last_pod().shows_missing = true;
  const std::string text = state_text(cluster.state);
  const State state = parse_state(text, "s");
  EXPECT_EQ(state_text(state), text);
  EXPECT_EQ(state.farms[1].priority, -7);
  EXPECT_TRUE(state.farms[1].is_gang && state.farms[0].history.has_started);
  EXPECT_TRUE(state.pods[3].shows_missing);
  EXPECT_EQ(state.pods[2].reclaimed_for, 1);
  EXPECT_EQ(state.ceilings[0].farms, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(state.ceilings[1].guaranteed, kNoCeiling);
}

TEST(StateJson, IsReadAsOlderVersionsWroteIt) {
  TestCluster cluster = full_cluster();
  cluster.state.nodes[0].is_schedulable = false;
  cluster.last_pod().is_reclaimed = true;
  cluster.last_pod().reclaimed_for = 1;
  const std::string text = state_text(cluster.state);
  Json older = Json::parse(text);
  for (Json& node : older["nodes"]) {
    node["takes_pods"] = node["schedulable"];
    node.erase("schedulable");
  }
  for (Json& pod : older["pods"]) {
    for (const char* const name : {"reclaimed", "reclaimed_for"}) {
      if (!pod.contains(name)) continue;
      pod[std::string(name) == "reclaimed" ? "taken" : "taken_for"] = pod[name];
      pod.erase(name);
    }
  }
  EXPECT_NE(older, Json::parse(text));
  EXPECT_EQ(state_text(parse_state(older.dump(), "s")), text);
}

TEST(StateJson, IsRefusedWithTheFaultyPart) {
  const auto refused = [](const std::string& text) {
    try {
      parse_state(text, "s.json");
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused("[]"), "s.json: '[]' is not a JSON object");
  EXPECT_EQ(refused(R"({"now": 1, "now": 2})"), "s.json: 'now' is given twice");
  EXPECT_EQ(refused(R"({"now": 1})"), "s.json: there is no 'nodes'");
  for (const char* const list : {"nodes", "farms", "pods", "ceilings"}) {
    Json json = Json::parse(R"({"now": 1, "nodes": [], "farms": [], "pods": []})");
    json[list].push_back({{"quota", 1}});
    EXPECT_EQ(refused(json.dump()), fmt::format("s.json: {}[0]: 'quota' is none of the names there are", list));
  }
  EXPECT_EQ(refused(R"({"now": 1, "nodes": [], "farms": [], "pods": [{"uid": "a", "farm": "b", "phase": "ready"}]})"),
            "s.json: pods[0]: there is no farm 'b'");
  EXPECT_EQ(refused(R"({"now": 1, "nodes": [], "farms": [{"key": "b", "executor": {}}],
                       "pods": [{"uid": "a", "farm": "b", "phase": "ready"}]})"),
            "s.json: pod 'a' runs without a node");
}

TEST(WhatIf, NamesWhoWouldLose) {
  const TestCluster cluster = full_cluster();
  const WhatIf answer = what_if(cluster.state, {}, "astro/sky", 2);
  EXPECT_EQ(answer.before.demand, 0);
  EXPECT_EQ(answer.after.guarantee.for_drain, 2);
  ASSERT_EQ(answer.reclaimed_from.size(), 1U);
  EXPECT_EQ(answer.reclaimed_from[0].executors, 2);
  EXPECT_EQ(answer.sentence,
            "0 of 2 executors running. 2 guaranteed pending: reclaiming from hep/cms (2), done within 60 s");
  EXPECT_EQ(answer.waits,
            (std::vector<std::string>{"2 guaranteed pending: reclaiming from hep/cms (2), done within 60 s"}));
  EXPECT_EQ(answer.released, 0);
}

TEST(WhatIf, CountsWhatAFarmWouldRelease) {
  const TestCluster cluster = full_cluster();
  const std::int32_t held = what_if(cluster.state, {}, "hep/cms", 0).before.held;
  ASSERT_GT(held, 1);
  const WhatIf answer = what_if(cluster.state, {}, "hep/cms", 1);
  EXPECT_EQ(answer.released, held - 1);
  EXPECT_EQ(answer.after.held, 1);
}

TEST(WhatIf, AsksForPodsThatOthersMake) {
  TestCluster cluster = full_cluster();
  const auto spark = cluster.add_farm("spark/etl", 1, 0, -1);
  try {
    what_if(cluster.state, {}, "spark/etl", 1);
    ADD_FAILURE() << "it has no pods to show what they are like";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "the pods of 'spark/etl' are made by others, and there is none to show what they are like");
  }
  cluster.add_node(1);
  cluster.add_pods(spark, 1, 1);
  EXPECT_EQ(what_if(cluster.state, {}, "spark/etl", 3).after.beyond.for_room, 2);
}

TEST(WhatIf, RefusesFarmsAndNumbersThatCannotBe) {
  const TestCluster cluster = full_cluster();
  EXPECT_THROW(what_if(cluster.state, {}, "hep/cmss", 1), InputError);
  EXPECT_THROW(what_if(cluster.state, {}, "hep/cms", -1), InputError);
  EXPECT_THROW(what_if(cluster.state, {}, "hep/cms", 100000), InputError);
}

}  // namespace
}  // namespace podere::farm
