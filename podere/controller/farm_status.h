// What the operator reports to users about their farms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podere/controller/cluster_state.h"
#include "podere/farm/policy.h"

namespace podere::controller {

struct Condition {
  std::string type;
  bool holds = false;
  std::string reason;
  std::string message;
};

struct FarmStatus {
  std::int64_t generation = 0;  ///< of the object that it is about
  std::int32_t executors = 0;   ///< as deploy/chart/crds/farms.yaml says
  std::int32_t running = 0;
  std::int32_t ready = 0;
  std::int32_t pending = 0;
  std::int32_t terminating = 0;
  std::int32_t over_guarantee = 0;
  std::string selector = {};
  std::string message = {};
  std::vector<Condition> conditions = {};
  farm::History history = {};
};

/// What a farm asks for, where the state has less because its pods are not made, or nothing is reclaimed for it.
struct Asked {
  std::optional<std::int32_t> wanted = {};  ///< nothing: as many as the decision counts
  std::int32_t guaranteed = 0;
  std::string blocked_because = "NoPodsAreMade";  ///< the reason of conditions where the state has less
};

/// The reason of conditions of a farm whose pods are not made: "QuotaExceeded" or "NoPodsAreMade".
std::string refusal_reason(std::string_view why);

/// The counts, and the conditions GuaranteeMet and Ready. `farm` is its index in the state.
FarmStatus counted_status(const farm::State& state, const farm::Decision& decision, std::int32_t farm,
                          const Asked& asked);

/// "a pod does not end though its time to drain is over: a-3 on node n2; ..."; empty if none of the farm's is stuck.
std::string stuck_pods(const ClusterView& view, const ClusterState& cluster, const farm::Policy& policy,
                       std::int32_t farm);

/// As it goes to the server. A condition that holds as before keeps the time since when it does.
Json json_of(const FarmStatus& status, const Json& before, double now);

struct ManagerStatus {
  std::int64_t generation = 0;
  std::int64_t farms = 0;
  std::int64_t executors = 0;
  double guaranteed_load = 0;
  std::string message = {};
  std::vector<Condition> conditions = {};
};
Json json_of(const ManagerStatus& status, const Json& before, double now);

/// Whether there is anything new for users, or for an operator that comes after: seconds that pass and usage that grows
/// do not count.
bool has_changed(const Json& status, const Json& before);

/// What was written of a farm's history, and when; nothing if nothing was.
struct KeptHistory {
  farm::History history;
  double at = 0;
};
std::optional<KeptHistory> history_of(const Json& status);

}  // namespace podere::controller
