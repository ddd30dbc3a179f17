#include "podere/controller/executor_pod.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

const kube::ObjectKey kFarm{"hep", "cms"};

FarmObject farm_of(const Json& farm) {
  static NeedsTable table;
  return farm_object_of(farm, table);
}

TEST(ExecutorPod, IsItsTemplateAndBelongsToItsFarm) {
  Json farm = test_farm("hep", "cms", 3, 2);
  farm["spec"]["template"]["metadata"]["annotations"] = {{"a", "b"}};
  const Json pod = executor_pod(kFarm, farm_of(farm), {.name = "cms-0"});
  EXPECT_EQ(kube::key_of(pod), (kube::ObjectKey{"hep", "cms-0"}));
  EXPECT_EQ(pod["metadata"]["labels"], (Json{{"app", "test"}, {kFarmLabel, "cms"}}));
  EXPECT_EQ(pod["metadata"]["annotations"]["a"], "b");
  const Json& owner = pod["metadata"]["ownerReferences"][0];
  EXPECT_EQ(owner["uid"], "farm-cms");
  EXPECT_EQ(owner["controller"], true);
  EXPECT_EQ(pod["spec"]["containers"][0]["resources"], farm["spec"]["template"]["spec"]["containers"][0]["resources"]);
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], false) << "secure_executor";
  EXPECT_EQ(pod["spec"]["terminationGracePeriodSeconds"], 60);
  EXPECT_FALSE(pod["spec"].contains("affinity"));
  NeedsTable table;
  EXPECT_EQ(pod_facts_of(pod, table).farm_uid, "farm-cms");
}

TEST(ExecutorPod, SaysOfWhichTemplateItWasMadeWhileItWaits) {
  const Json farm = test_farm("hep", "cms", 3, 2);
  Json scaled = farm;
  scaled["spec"]["executors"] = 5;
  Json other = farm;
  other["spec"]["template"]["spec"] = test_pod_spec("64");
  const auto is_outdated = [&](const Json& now) {
    TestCluster cluster;
    Json pod = executor_pod(kFarm, farm_of(farm), {.name = "cms-0"});
    pod["metadata"]["uid"] = "uid";
    pod["metadata"]["creationTimestamp"] = time_text(kTestNow);
    cluster.add_farm(now).add_pod(pod);
    return cluster.state().state.pods.at(0).is_outdated;
  };
  EXPECT_FALSE(is_outdated(farm));
  EXPECT_FALSE(is_outdated(scaled));
  EXPECT_TRUE(is_outdated(other));
}

TEST(ExecutorPod, PrefersANodeAndHasAPriorityUnlessTheTemplateSaysOtherwise) {
  Json farm = test_farm("hep", "cms", 3, 2);
  const ExecutorPodOptions options{.name = "cms-0", .preferred_node = "n2", .priority_class = "guaranteed"};
  Json pod = executor_pod(kFarm, farm_of(farm), options);
  EXPECT_EQ(pod["spec"]["priorityClassName"], "guaranteed");
  const Json& preference =
      pod["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(preference["preference"]["matchFields"][0]["values"], Json::array({"n2"}));
  farm["spec"]["template"]["spec"]["priorityClassName"] = "own";
  farm["spec"]["template"]["spec"]["affinity"] = {{"podAntiAffinity", Json::object()}};
  pod = executor_pod(kFarm, farm_of(farm), options);
  EXPECT_EQ(pod["spec"]["priorityClassName"], "own");
  EXPECT_TRUE(pod["spec"]["affinity"].contains("podAntiAffinity"));
}

TEST(ExecutorPod, EndsWithinTheCeilingHoweverItIsDeleted) {
  Json farm = test_farm("hep", "cms", 3, 2);
  ExecutorPodOptions options{.name = "cms-0", .most_drain_seconds = 300};
  const auto grace = [&] {
    return executor_pod(kFarm, farm_of(farm), options)["spec"]["terminationGracePeriodSeconds"];
  };
  EXPECT_EQ(grace(), 60);
  farm["spec"]["drainSeconds"] = 86400;
  EXPECT_EQ(grace(), 300);
  farm["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 120;
  EXPECT_EQ(grace(), 120);
  farm["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 86400;
  EXPECT_EQ(grace(), 300);
}

TEST(ExecutorPod, IsMadeOfTemplatesThatTheServerWillRefuse) {
  Json farm = test_farm("hep", "cms", 3, 2);
  const ExecutorPodOptions options{.name = "cms-0", .preferred_node = "n2"};
  for (const Json& nonsense : {Json("text"), Json(7), Json::array({1}), Json{{"nodeAffinity", "text"}},
                               Json{{"nodeAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", 7}}}}}) {
    farm["spec"]["template"]["spec"]["affinity"] = nonsense;
    EXPECT_EQ(executor_pod(kFarm, farm_of(farm), options)["spec"]["affinity"], nonsense);
  }
  farm["spec"]["template"]["spec"]["affinity"] = nullptr;
  EXPECT_TRUE(executor_pod(kFarm, farm_of(farm), options)["spec"]["affinity"].contains("nodeAffinity"));
}

TEST(ExecutorNames, AreTheFirstThatAreFree) {
  ExecutorNames names(kFarm, [](const kube::ObjectKey& key) { return key.name == "cms-0" || key.name == "cms-2"; });
  EXPECT_EQ(names.next(), "cms-1");
  EXPECT_EQ(names.next(), "cms-3");
}

}  // namespace
}  // namespace podere::controller
