#include "podere/controller/node_match.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

NodeFacts node_with(const Json& labels, const Json& taints = Json::array()) {
  Json node = test_node("n1", 4, labels);
  node["spec"]["taints"] = taints;
  return node_facts_of(node);
}

bool allows(const Json& spec, const NodeFacts& node) { return node_rules_of(spec).allow("n1", node); }

Json affinity_of_terms(const Json& terms) {
  return {{"affinity",
           {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}}}};
}

Json expression(const char* key, const char* op, const Json& values) {
  return {{"key", key}, {"operator", op}, {"values", values}};
}

TEST(NodeMatch, ANodeSelectorWantsEachOfItsLabels) {
  const NodeFacts node = node_with({{"disk", "ssd"}, {"zone", "a"}});
  EXPECT_TRUE(allows(Json::object(), node));
  EXPECT_TRUE(allows({{"nodeSelector", {{"disk", "ssd"}}}}, node));
  EXPECT_FALSE(allows({{"nodeSelector", {{"disk", "ssd"}, {"zone", "b"}}}}, node));
  EXPECT_FALSE(allows({{"nodeSelector", {{"gpu", "yes"}}}}, node));
}

TEST(NodeMatch, OfAffinityTermsOneMustHoldInFull) {
  const NodeFacts node = node_with({{"zone", "a"}, {"cores", "16"}});
  const auto holds = [&](const Json& expression) {
    return allows(affinity_of_terms({{{"matchExpressions", {expression}}}}), node);
  };
  EXPECT_TRUE(holds(expression("zone", "In", {"b", "a"})));
  EXPECT_FALSE(holds(expression("zone", "NotIn", {"a"})));
  EXPECT_TRUE(holds(expression("rack", "NotIn", {"a"}))) << "what is not there is not in";
  EXPECT_TRUE(holds(expression("zone", "Exists", Json::array())));
  EXPECT_TRUE(holds(expression("rack", "DoesNotExist", Json::array())));
  EXPECT_TRUE(holds(expression("cores", "Gt", {"8"})));
  EXPECT_FALSE(holds(expression("cores", "Gt", {"16"})));
  EXPECT_FALSE(holds(expression("zone", "Lt", {"8"}))) << "no number";
  const Json first_fails = {{{"matchExpressions", {expression("zone", "In", {"b"})}}},
                            {{"matchFields", {expression("metadata.name", "In", {"n1"})}}}};
  EXPECT_TRUE(allows(affinity_of_terms(first_fails), node));
  EXPECT_FALSE(allows(affinity_of_terms(Json::array({Json::object()})), node)) << "an empty term selects nothing";
  EXPECT_THROW(holds(expression("zone", "Near", {"a"})), Error);
}

TEST(NodeMatch, TaintsThatForbidMustBeTolerated) {
  const Json taint = {{"key", "gpu"}, {"value", "yes"}, {"effect", "NoSchedule"}};
  const NodeFacts node = node_with(Json::object(), Json::array({taint}));
  const auto with = [&](const Json& toleration) { return allows({{"tolerations", {toleration}}}, node); };
  EXPECT_FALSE(allows(Json::object(), node));
  EXPECT_TRUE(with({{"key", "gpu"}, {"value", "yes"}, {"effect", "NoSchedule"}}));
  EXPECT_TRUE(with({{"key", "gpu"}, {"operator", "Exists"}}));
  EXPECT_TRUE(with({{"operator", "Exists"}}));
  EXPECT_FALSE(with({{"key", "gpu"}, {"value", "no"}}));
  EXPECT_FALSE(with({{"key", "gpu"}, {"value", "yes"}, {"effect", "NoExecute"}}));
  EXPECT_TRUE(allows(Json::object(), node_with(Json::object(), {{{"key", "a"}, {"effect", "PreferNoSchedule"}}})));
}

TEST(NodeMatch, ANodeIsSchedulableWhenItIsReadyAndNotCordoned) {
  Json node = test_node("n1", 4);
  EXPECT_TRUE(node_facts_of(node).is_schedulable);
  node["spec"]["unschedulable"] = true;
  EXPECT_FALSE(node_facts_of(node).is_schedulable);
  node["spec"] = Json::object();
  node["status"]["conditions"][0]["status"] = "Unknown";
  EXPECT_FALSE(node_facts_of(node).is_schedulable);
}

TEST(PodNeeds, AreWhatTheSchedulerCounts) {
  const auto container = [](const char* cpu, const char* restart = nullptr) {
    Json json = {{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}}}}}};
    if (restart != nullptr) json["restartPolicy"] = restart;
    return json;
  };
  Json spec = {{"containers", {container("1"), container("500m")}}};
  EXPECT_EQ(requests_of(spec), (Amounts{{"cpu", 1500}, {"pods", 1}}));
  spec["initContainers"] = Json::array({container("2")});  // {x} is a copy of x, or an array, as compilers have it
  EXPECT_EQ(requests_of(spec).at("cpu"), 2000) << "it runs before the others";
  spec["initContainers"] = {container("300m", "Always"), container("1")};
  EXPECT_EQ(requests_of(spec).at("cpu"), 1800) << "a sidecar runs with them";
  spec["initContainers"] = {container("300m", "Always"), container("4")};
  EXPECT_EQ(requests_of(spec).at("cpu"), 4300);
  spec["overhead"] = {{"cpu", "100m"}};
  EXPECT_EQ(requests_of(spec).at("cpu"), 4400);
  const Json limited = {
      {"containers",
       {{{"name", "c"},
         {"resources", {{"limits", {{"cpu", "3"}, {"memory", "1Ki"}}}, {"requests", {{"cpu", "1"}}}}}}}}};
  EXPECT_EQ(requests_of(limited), (Amounts{{"cpu", 1000}, {"memory", 1024}, {"pods", 1}}));
}

TEST(PodNeeds, HaveLimitsOfContainersTogether) {
  const auto container = [](const Json& limits) {
    return Json{{"name", "c"}, {"resources", {{"requests", {{"cpu", "1"}}}, {"limits", limits}}}};
  };
  Json spec = {{"containers", {container({{"cpu", "2"}}), container({{"cpu", "1"}, {"memory", "1Ki"}})}}};
  EXPECT_EQ(pod_limits_of(spec), (Amounts{{"cpu", 3000}, {"memory", 1024}}));
  spec["initContainers"] = Json::array({container({{"cpu", "4"}})});
  spec["overhead"] = {{"cpu", "100m"}, {"ephemeral-storage", "1"}};
  EXPECT_EQ(pod_limits_of(spec), (Amounts{{"cpu", 4100}, {"memory", 1024}}));
}

TEST(PodNeeds, EqualOnesAreOneInMemory) {
  NeedsTable table;
  const auto first = table.share(pod_needs_of(test_pod_spec()));
  EXPECT_EQ(table.share(pod_needs_of(test_pod_spec())), first);
  EXPECT_NE(table.share(pod_needs_of(test_pod_spec("2"))), first);
}

}  // namespace
}  // namespace podere::controller
