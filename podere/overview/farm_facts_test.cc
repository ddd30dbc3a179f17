#include "podere/overview/farm_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace podere::overview {
namespace {

kube::Json farm_object() {
  return kube::Json::parse(R"({
    "metadata": {"namespace": "hep", "name": "cms"},
    "spec": {"executors": 6, "minExecutors": 2, "maxExecutors": 8, "priority": -3, "weight": 2.5, "gang": true, "template": {}},
    "status": {"executors": 5, "running": 4, "ready": 3, "pending": 2, "terminating": 1, "overGuarantee": 2,
               "message": "4 of 6 executors running.", "asOf": "2026-11-28T01:02:03Z",
               "conditions": [{"type": "Ready", "status": "False", "reason": "NoRoom", "message": "3 of 6",
                               "lastTransitionTime": "2026-11-28T01:00:00Z"}]}})");
}

TEST(FarmFacts, AreThoseOfTheObject) {
  EXPECT_EQ(
      to_text(farm_facts(farm_object())),
      R"({"namespace":"hep","name":"cms","guaranteed":2,"wanted":6,"maximum":8,"priority":-3,"weight":2.5,)"
      R"("gang":true,"makes_pods":true,"status":{"executors":5,"running":4,"ready":3,"pending":2,"terminating":1,)"
      R"("over_guarantee":2,"message":"4 of 6 executors running.","as_of":"2026-11-28T01:02:03Z","conditions":)"
      R"([{"type":"Ready","holds":false,"reason":"NoRoom","message":"3 of 6","since":"2026-11-28T01:00:00Z"}]}})");
}

TEST(FarmFacts, WhatAFarmDoesNotSayIsItsDefaultOrNull) {
  kube::Json object = farm_object();
  object["spec"] = {{"selector", {{"matchLabels", {{"app", "spark"}}}}}};
  object.erase("status");
  const Json facts = farm_facts(object);
  EXPECT_EQ(facts.at("guaranteed"), 0);
  EXPECT_EQ(facts.at("weight"), 1);
  EXPECT_EQ(facts.at("priority"), 0);
  EXPECT_FALSE(facts.at("makes_pods").get<bool>());
  for (const char* const name : {"wanted", "maximum", "status"}) EXPECT_TRUE(facts.at(name).is_null()) << name;
}

/// A status may have the keys of executors before the operator has counted them.
TEST(FarmFacts, AStatusWithoutCountsIsNone) {
  kube::Json object = farm_object();
  object["status"] = {{"hostKeys", "ssh-ed25519 A"}};
  EXPECT_TRUE(farm_facts(object).at("status").is_null());
}

TEST(FarmFactsBadarg, MembersOfAnotherKindCountAsAbsent) {
  const kube::Json whole = farm_object();
  for (const kube::Json& other : {kube::Json(), kube::Json("x"), kube::Json(1.5), kube::Json::array({1}),
                                  kube::Json::object(), kube::Json(true)}) {
    for (const char* const part : {"spec", "status"}) {
      kube::Json object = whole;
      object[part] = other;
      EXPECT_NO_THROW(to_text(farm_facts(object))) << part << other;
      for (const auto& [name, value] : whole.at(part).items()) {
        object = whole;
        object[part][name] = other;
        EXPECT_NO_THROW(to_text(farm_facts(object))) << name << other;
      }
    }
    kube::Json object = whole;
    object["status"]["conditions"] = kube::Json::array({other});
    EXPECT_EQ(farm_facts(object).at("status").at("conditions").size(), 1U);
  }
}

}  // namespace
}  // namespace podere::overview
