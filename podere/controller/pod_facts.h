// What is kept of a pod.
#pragma once

#include <memory>
#include <string>

#include "podere/controller/pod_needs.h"

namespace podere::controller {

// On pods of farms.
inline constexpr const char* kFarmLabel = "podere.dev/farm";
inline constexpr const char* kRoleLabel = "podere.dev/role";  ///< "driver": uses room, and is never taken
// On a pod that is taken: for whom, whether for a guarantee, until when, and why.
inline constexpr const char* kReclaimedFor = "podere.dev/reclaimed-for";
inline constexpr const char* kReclaimedForGuarantee = "podere.dev/reclaimed-for-guarantee";
inline constexpr const char* kReclaimDeadline = "podere.dev/reclaim-deadline";
inline constexpr const char* kReclaimReason = "podere.dev/reclaim-reason";
/// When its work was last saved; written by who trains in it.
inline constexpr const char* kCheckpointed = "podere.dev/checkpointed";

/// That a pod was told to drain, so that another farm may have its room.
struct Taken {
  std::string for_farm;  ///< "namespace/name"
  bool for_guarantee = true;
  double deadline = 0;

  bool operator==(const Taken&) const = default;
};

/// Times are seconds since 1970; 0: never.
struct PodFacts {
  std::string uid;
  Labels labels = {};
  std::string farm_uid = {};  ///< of the farm that made it; empty: something else did
  bool is_made_by_a_farm = false;
  std::string node = {};
  std::shared_ptr<const PodNeeds> needs = {};
  bool is_driver = false;
  bool is_ready = false;
  bool is_ending = false;    ///< deleted, and not gone
  bool is_finished = false;  ///< its processes have ended by themselves: it holds no room
  double created = 0;
  double ready_since = 0;
  double checkpointed = 0;
  double ends_at = 0;      ///< by when it is to be gone, if it is ending
  double finished_at = 0;  ///< if it is finished
  bool is_taken = false;
  Taken taken = {};  ///< if it is

  bool operator==(const PodFacts& other) const;
};

/// Throws Error for what is no pod, or asks for no amounts.
PodFacts pod_facts_of(const Json& pod, NeedsTable& table);

}  // namespace podere::controller
