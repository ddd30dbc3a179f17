// Farms and their managers as users write them. The API server has checked them against deploy/chart/crds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "podere/controller/labels.h"
#include "podere/controller/limits.h"
#include "podere/controller/pod_needs.h"
#include "podere/farm/policy.h"
#include "podere/kube/farm_kinds.h"

namespace podere::controller {

using kube::kFarmManagers;
using kube::kFarms;

struct FarmObject {
  std::string uid;
  std::int64_t generation = 0;
  bool is_ending = false;  ///< deleted, and waiting for its pods to go
  Labels labels = {};
  std::optional<std::int32_t> wanted = {};
  std::int32_t guaranteed = 0;
  std::int32_t maximum = 100'000;
  double weight = 1;
  std::int32_t priority = 0;
  bool is_gang = false;
  double min_runtime_seconds = 0;
  double drain_seconds = 60;
  LabelSelector selector = {};            ///< of its pods
  std::shared_ptr<const Json> pod = {};   ///< the template; null: others make its pods
  std::string template_mark = {};         ///< another for each template
  std::shared_ptr<const PodNeeds> needs;  ///< of the template
  std::string fault = {};                 ///< what is wrong with the template; empty: nothing that can be seen
  std::string warning = {};               ///< what of the template is hardly meant; empty: nothing
  std::shared_ptr<const Json> status;     ///< as the server has it

  bool has_template() const { return pod != nullptr; }
  /// But for the status.
  bool asks_the_same(const FarmObject& other) const;
};

FarmObject farm_object_of(const Json& farm, NeedsTable& table);

/// Of "Proportional", "FairShare" or "HistoryAware".
farm::Mode mode_named(std::string_view name);

struct ManagerObject {
  std::string uid;
  std::int64_t generation = 0;
  LabelSelector farms = {};
  farm::Policy policy = {};
  Limits limits = {};
  std::shared_ptr<const Json> status;

  bool asks_the_same(const ManagerObject& other) const { return uid == other.uid && generation == other.generation; }
};

ManagerObject manager_object_of(const Json& manager);

}  // namespace podere::controller
