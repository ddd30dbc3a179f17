// What is kept of a pod.
#pragma once

#include <memory>
#include <string>

#include "podere/controller/pod_needs.h"
#include "podere/kube/farm_kinds.h"

namespace podere::controller {

using kube::kCheckpointed;
using kube::kFarmLabel;
using kube::kReclaimDeadline;
using kube::kReclaimedFor;
using kube::kReclaimedForGuarantee;
using kube::kReclaimReason;
using kube::kRoleLabel;
using kube::kShowsMissing;
using kube::kTemplateMark;

/// That a pod is to drain, so that another farm may have its room.
struct Reclaimed {
  std::string for_farm;  ///< "namespace/name"
  bool for_guarantee = true;
  double deadline = 0;

  bool operator==(const Reclaimed&) const = default;
};

/// Times are seconds since 1970; 0: never.
struct PodFacts {
  std::string uid;
  Labels labels = {};
  std::string farm_uid = {};  ///< of the farm that made it; empty: something else did
  std::string node = {};
  std::shared_ptr<const PodNeeds> needs = {};
  std::string template_mark =
      {};  ///< of the farm's template that it was made of; empty: it has a node, or no such label
  bool is_driver = false;
  bool is_ready = false;
  bool is_ending = false;    ///< deleted, and not gone
  bool is_finished = false;  ///< its processes have ended by themselves: it holds no room
  double created = 0;
  double ready_since = 0;
  double checkpointed = 0;
  double ends_at = 0;          ///< by when it is to be gone, if it is ending
  double finished_at = 0;      ///< if it is finished
  bool shows_missing = false;  ///< made without room, to show what of a guarantee is cut
  bool is_reclaimed = false;
  Reclaimed reclaimed = {};  ///< if it is

  bool is_made_by_a_farm() const { return !farm_uid.empty(); }
  bool operator==(const PodFacts&) const = default;
};

/// Throws Error for what is no pod, or asks for no amounts.
PodFacts pod_facts_of(const Json& pod, NeedsTable& table);

}  // namespace podere::controller
