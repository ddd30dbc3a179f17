#include "podere/controller/executor_pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "podere/controller/executor_security.h"
#include "podere/controller/json.h"
#include "podere/controller/pod_facts.h"

namespace podere::controller {
namespace {

/// What a template has in the wrong place is left there, for the API server to refuse it.
void prefer(Json& spec, const std::string& node) {
  Json* at = &spec;
  for (const char* const name : {"affinity", "nodeAffinity"}) {
    at = &(*at)[name];
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return;
  }
  Json& preferences = (*at)["preferredDuringSchedulingIgnoredDuringExecution"];
  if (preferences.is_null()) preferences = Json::array();
  if (!preferences.is_array()) return;
  const Json is_node = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  preferences.push_back({{"weight", 100}, {"preference", {{"matchFields", Json::array({is_node})}}}});
}

}  // namespace

Json executor_pod(const kube::ObjectKey& farm_key, const FarmObject& farm, const ExecutorPodOptions& options) {
  Json pod = kube::object_of(kube::kPods, {farm_key.in_namespace, options.name});
  Json& metadata = pod["metadata"];
  metadata["labels"] = object_at(*farm.pod, {"metadata", "labels"});
  metadata["labels"][kFarmLabel] = farm_key.name;
  const Json& annotations = object_at(*farm.pod, {"metadata", "annotations"});
  if (!annotations.empty()) metadata["annotations"] = annotations;
  metadata["annotations"][kTemplateMark] = farm.template_mark;
  if (options.shows_missing) metadata["annotations"][kShowsMissing] = "true";
  metadata["ownerReferences"] = Json::array({{{"apiVersion", kFarms.api_version()},
                                              {"kind", kFarms.kind},
                                              {"name", farm_key.name},
                                              {"uid", farm.uid},
                                              {"controller", true},
                                              {"blockOwnerDeletion", true}}});
  Json& spec = pod["spec"] = object_at(*farm.pod, {"spec"});
  // Other deletions, such as by the garbage collector after the farm, let it drain too, and not for longer.
  Json& grace = spec["terminationGracePeriodSeconds"];
  if (grace.is_null()) grace = static_cast<int>(std::ceil(farm.drain_seconds));
  if (grace.is_number() && grace > options.most_drain_seconds) grace = static_cast<int>(options.most_drain_seconds);
  if (!options.priority_class.empty() && !spec.contains("priorityClassName")) {
    spec["priorityClassName"] = options.priority_class;
  }
  secure_executor(spec, kube::key_secret_name(farm_key));
  if (!options.preferred_node.empty()) prefer(spec, options.preferred_node);
  return pod;
}

std::string ExecutorNames::next() {
  while (true) {
    std::string name = fmt::format("{}-{}", farm_.name, next_++);
    if (!name_exists_({farm_.in_namespace, name})) return name;
  }
}

}  // namespace podere::controller
