// Objects as an API server gives them, for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "podere/controller/cluster_state.h"
#include "podere/controller/json.h"
#include "podere/controller/pass.h"

namespace podere::controller {

inline constexpr double kTestNow = 1'800'000'000;  // 2027

inline Json test_node(const std::string& name, int cores, const Json& labels = Json::object()) {
  return {{"metadata", {{"name", name}, {"labels", labels}}},
          {"spec", Json::object()},
          {"status",
           {{"allocatable", {{"cpu", std::to_string(cores)}, {"memory", "64Gi"}, {"pods", "110"}}},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

inline Json test_pod_spec(const std::string& cpu = "1") {
  return {{"containers", {{{"name", "main"}, {"resources", {{"requests", {{"cpu", cpu}, {"memory", "1Gi"}}}}}}}}};
}

/// That the farm made; ready if it has a node.
inline Json test_pod(const std::string& in_namespace, const std::string& name, const std::string& farm_uid,
                     const std::string& node = "", double age = 100) {
  const std::string time = time_text(kTestNow - age);
  Json pod = {{"metadata",
               {{"namespace", in_namespace},
                {"name", name},
                {"uid", "uid-" + name},
                {"resourceVersion", "1"},
                {"creationTimestamp", time},
                {"labels", {{"app", "test"}}}}},
              {"spec", test_pod_spec()},
              {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
  if (!farm_uid.empty()) {
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "podere.dev/v1alpha1"},
                                                       {"kind", "Farm"},
                                                       {"name", "any"},
                                                       {"uid", farm_uid},
                                                       {"controller", true}}});
  }
  if (!node.empty()) {
    pod["spec"]["nodeName"] = node;
    pod["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", time}}};
  }
  return pod;
}

/// With a template of executors of one core.
inline Json test_farm(const std::string& in_namespace, const std::string& name, int wanted, int guaranteed) {
  return {{"metadata",
           {{"namespace", in_namespace},
            {"name", name},
            {"uid", "farm-" + name},
            {"generation", 1},
            {"resourceVersion", "1"}}},
          {"spec",
           {{"executors", wanted},
            {"minExecutors", guaranteed},
            {"weight", 1},
            {"drainSeconds", 60},
            {"template", {{"metadata", {{"labels", {{"app", "test"}}}}}, {"spec", test_pod_spec()}}}}}};
}

/// Adopts pods with this label.
inline Json test_adopting_farm(const std::string& in_namespace, const std::string& name, const std::string& label,
                               const std::string& value) {
  Json farm = test_farm(in_namespace, name, 0, 0);
  farm["spec"].erase("template");
  farm["spec"].erase("executors");
  farm["spec"]["selector"] = {{"matchLabels", {{label, value}}}};
  return farm;
}

/// As the API server has counted it.
inline Json test_quota(const std::string& in_namespace, const std::string& name, const Json& hard, const Json& used) {
  return {{"metadata", {{"namespace", in_namespace}, {"name", name}, {"resourceVersion", "1"}}},
          {"spec", {{"hard", hard}}},
          {"status", {{"hard", hard}, {"used", used}}}};
}

/// Collects objects into a view, in whatever order they come.
class TestCluster {
 public:
  TestCluster& add_node(const Json& node) {
    nodes_[kube::key_of(node)] = std::make_shared<const NodeFacts>(node_facts_of(node));
    return *this;
  }
  TestCluster& add_pod(const Json& pod) {
    pods_[kube::key_of(pod)] = std::make_shared<const PodFacts>(pod_facts_of(pod, *table_));
    return *this;
  }
  TestCluster& add_farm(const Json& farm) {
    farms_[kube::key_of(farm)] = std::make_shared<const FarmObject>(farm_object_of(farm, *table_));
    return *this;
  }
  ClusterView view() const {
    return {{pods_.begin(), pods_.end()}, {nodes_.begin(), nodes_.end()}, {farms_.begin(), farms_.end()}};
  }
  /// Of all farms.
  ClusterState state(const Limits& limits = {}) const {
    const ClusterView now = view();
    Scope scope{.limits = limits};
    for (std::size_t f = 0; f < now.farms.size(); ++f) scope.farms.push_back(static_cast<std::int32_t>(f));
    return cluster_state(now, find_owners(now), scope, kTestNow);
  }

 private:
  template <typename Kept>
  using Map = std::map<kube::ObjectKey, std::shared_ptr<const Kept>>;
  std::shared_ptr<NeedsTable> table_ = std::make_shared<NeedsTable>();
  Map<PodFacts> pods_;
  Map<NodeFacts> nodes_;
  Map<FarmObject> farms_;
};

/// Over all farms of the cluster, which have that manager, or none.
inline Pass test_pass(const TestCluster& cluster, double now, const kube::ObjectKey& key = kNoManager,
                      const std::shared_ptr<const ManagerObject>& manager = nullptr) {
  const ClusterView view = cluster.view();
  const std::size_t n_farms = view.farms.size();
  Pass pass{.key = key,
            .now = now,
            .view = view,
            .assignment = {.manager = std::vector<std::string>(n_farms, key.name),
                           .others = std::vector<std::vector<std::string>>(n_farms)},
            .manager = manager,
            .policy = manager ? manager->policy : farm::Policy(),
            .owners = find_owners(view)};
  pass.cluster = cluster.state();
  return pass;
}

}  // namespace podere::controller
