#include "podere/controller/node_facts.h"

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

bool is_node_ready(const Json& node) {
  const Json* const condition = condition_of(node, "Ready");
  return condition != nullptr && kube::text_at(*condition, {"status"}) == "True";
}

}  // namespace

NodeFacts node_facts_of(const Json& node) {
  const Json& spec = object_at(node, {"spec"});
  NodeFacts facts{.labels = Labels(object_at(node, {"metadata", "labels"})),
                  .allocatable = amounts_of(object_at(node, {"status", "allocatable"})),
                  .is_schedulable = is_node_ready(node) && !spec.value("unschedulable", false)};
  for (const Json& taint : array_at(spec, "taints")) {
    const auto effect = kube::text_at(taint, {"effect"});
    if (effect != "NoSchedule" && effect != "NoExecute") continue;
    facts.taints.push_back({std::string(kube::text_at(taint, {"key"})), std::string(kube::text_at(taint, {"value"})),
                            std::string(effect)});
  }
  return facts;
}

}  // namespace podere::controller
