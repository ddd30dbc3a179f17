// Podere's own kinds of objects, and what stands on the pods of farms: the operator writes it, drivers read it.
#pragma once

#include <string>

#include "podere/kube/object.h"

namespace podere::kube {

inline const Resource kFarms{"podere.dev", "v1alpha1", "Farm", "farms"};
inline const Resource kFarmManagers{"podere.dev", "v1alpha1", "FarmManager", "farmmanagers", false};
inline const Resource kWhatIfs{"podere.dev", "v1alpha1", "WhatIf", "whatifs"};

// On pods of farms.
inline constexpr const char* kFarmLabel = "podere.dev/farm";
inline constexpr const char* kRoleLabel = "podere.dev/role";  ///< "driver": uses room, and is never reclaimed
// On a pod that is reclaimed: for which farm, whether for a guarantee, until when, and why.
inline constexpr const char* kReclaimedFor = "podere.dev/reclaimed-for";
inline constexpr const char* kReclaimedForGuarantee = "podere.dev/reclaimed-for-guarantee";
inline constexpr const char* kReclaimDeadline = "podere.dev/reclaim-deadline";
inline constexpr const char* kReclaimReason = "podere.dev/reclaim-reason";
/// Of which template of its farm an executor was made: one that waits and is of another than the farm has now is made
/// again.
inline constexpr const char* kTemplateMark = "podere.dev/template";
/// On a pod that is there for a node autoscaler to see.
inline constexpr const char* kShowsMissing = "podere.dev/shows-missing-guarantee";
inline constexpr const char* kCheckpointed = "podere.dev/checkpointed";  ///< when work was last saved; by who trains

/// "podere-farm-astro", the secret with the keys to the executors of the farm astro, which mount it.
inline std::string key_secret_name(const ObjectKey& farm) { return "podere-farm-" + farm.name; }

}  // namespace podere::kube
