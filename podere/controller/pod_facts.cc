#include "podere/controller/pod_facts.h"

#include <algorithm>

#include "podere/controller/farm_object.h"
#include "podere/controller/json.h"

namespace podere::controller {
namespace {

void note_owner(const Json& pod, PodFacts& facts) {
  for (const Json& owner : array_at(object_at(pod, {"metadata"}), "ownerReferences")) {
    const bool is_farm = kube::text_at(owner, {"kind"}) == kFarms.kind &&
                         kube::text_at(owner, {"apiVersion"}).starts_with(kFarms.group + "/");
    if (!is_farm || !owner.value("controller", false)) continue;
    facts.farm_uid = kube::text_at(owner, {"uid"});
  }
}

void note_end(const Json& pod, PodFacts& facts) {
  const auto phase = kube::text_at(pod, {"status", "phase"});
  facts.ends_at = time_at(pod, {"metadata", "deletionTimestamp"});
  facts.is_ending = facts.ends_at > 0;
  facts.is_finished = phase == "Succeeded" || phase == "Failed";
  if (!facts.is_finished) return;
  facts.finished_at = facts.created;
  for (const Json& container : array_at(object_at(pod, {"status"}), "containerStatuses")) {
    facts.finished_at = std::max(facts.finished_at, time_at(container, {"state", "terminated", "finishedAt"}));
  }
}

void note_readiness(const Json& pod, PodFacts& facts) {
  const Json* const ready = condition_of(pod, "Ready");
  if (ready == nullptr || kube::text_at(*ready, {"status"}) != "True") return;
  facts.is_ready = true;
  facts.ready_since = std::max(facts.created, time_at(*ready, {"lastTransitionTime"}));
}

void note_annotations(const Labels& annotations, PodFacts& facts) {
  const auto text = [&](const char* name) {
    const std::string* const found = annotations.find(name);
    return found == nullptr ? std::string() : *found;
  };
  if (facts.node.empty()) facts.template_mark = text(kTemplateMark);
  facts.shows_missing = annotations.find(kShowsMissing) != nullptr;
  facts.checkpointed = seconds_of(text(kCheckpointed));
  const double deadline = seconds_of(text(kReclaimDeadline));
  if (deadline <= 0) return;  // the operator reclaims no pod without a deadline
  facts.is_reclaimed = true;
  facts.reclaimed = {text(kReclaimedFor), text(kReclaimedForGuarantee) != "false", deadline};
}

}  // namespace

PodFacts pod_facts_of(const Json& pod, NeedsTable& table) {
  const Json& spec = object_at(pod, {"spec"});
  PodFacts facts{.uid = std::string(kube::uid_of(pod)),
                 .labels = Labels(object_at(pod, {"metadata", "labels"})),
                 .node = std::string(kube::text_at(spec, {"nodeName"})),
                 .needs = table.share(pod_needs_of(spec)),
                 .created = time_at(pod, {"metadata", "creationTimestamp"})};
  note_owner(pod, facts);
  // What a farm made is an executor whatever its template says: else the farm would make others for ever.
  facts.is_driver = !facts.is_made_by_a_farm() &&
                    (facts.labels.has(kRoleLabel, "driver") || facts.labels.has("spark-role", "driver"));
  note_end(pod, facts);
  note_readiness(pod, facts);
  note_annotations(Labels(object_at(pod, {"metadata", "annotations"})), facts);
  return facts;
}

}  // namespace podere::controller
