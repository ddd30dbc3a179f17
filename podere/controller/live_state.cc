#include "podere/controller/live_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/controller/histories.h"
#include "podere/controller/json.h"
#include "podere/controller/pass.h"

namespace podere::controller {
namespace {

std::size_t find_farm(const Objects<FarmObject>& farms, const kube::ObjectKey& key) {
  const auto found = std::ranges::find(farms, key, [](const auto& farm) { return farm.first; });
  if (found == farms.end()) {
    std::vector<std::string> names;
    for (const auto& [other, object] : farms) {
      if (other.in_namespace == key.in_namespace) names.push_back(other.text());  // other namespaces stay hidden
    }
    const auto nearest = nearest_name(key.text(), names);
    throw_input_error("there is no farm {}{}", printable(key.text()),
                      nearest ? fmt::format("; there is '{}'", *nearest) : "");
  }
  if (found->second->is_ending) throw_input_error("farm {} is being deleted", key.text());
  return static_cast<std::size_t>(found - farms.begin());
}

/// Of a farm for which no pods are made by now, why; else empty.
std::string blocked_because(const FarmObject& farm) {
  const Json* const valid = condition_of({{"status", *farm.status}}, "Valid");
  if (valid == nullptr) return "";
  const auto reason = kube::text_at(*valid, {"reason"});
  if (reason != "NoPodsAreMade" && reason != "QuotaExceeded") return "";
  return std::string(kube::text_at(*valid, {"message"}));
}

std::vector<std::string> remarks_on(const FarmObject& farm, const std::string& manager) {
  std::vector<std::string> remarks;
  if (manager.empty()) remarks.emplace_back(kUnmanaged);
  if (!farm.fault.empty()) remarks.push_back(farm.fault);
  if (!farm.warning.empty()) remarks.push_back(farm.warning);
  if (std::string why = blocked_because(farm); !why.empty()) remarks.push_back(std::move(why));
  if (!farm.status->contains("asOf")) remarks.emplace_back("no operator has looked at it so far");
  return remarks;
}

}  // namespace

LiveState live_state(const Stores& stores, const kube::ObjectKey& farm) {
  const ClusterView view{stores.pods.all(), stores.nodes.all(), stores.own_farms()};

  const std::size_t asked = find_farm(view.farms, farm);
  const Assignment assignment = assign(view.farms, stores.managers.all());
  LiveState live{.manager = assignment.manager[asked],
                 .remarks = remarks_on(*view.farms[asked].second, assignment.manager[asked])};
  Scope scope{.has_guarantees = !live.manager.empty()};
  if (const auto manager = stores.managers.get({"", live.manager})) {
    live.policy = manager->policy;
    scope.limits = manager->limits;
  }
  for (std::size_t f = 0; f < view.farms.size(); ++f) {
    if (assignment.manager[f] != live.manager) continue;
    scope.farms.push_back(static_cast<std::int32_t>(f));
    if (!blocked_because(*view.farms[f].second).empty()) scope.blocked.insert(view.farms[f].second->uid);
  }
  const double now = seconds_now();
  ClusterState cluster = cluster_state(view, find_owners(view), scope, now);
  Histories().advance(cluster.state, live.policy, [&](std::size_t f) {
    return history_of(*view.farms[static_cast<std::size_t>(cluster.farms[f])].second->status);
  });
  const auto place = std::ranges::find(cluster.farms, static_cast<std::int32_t>(asked)) - cluster.farms.begin();
  std::ranges::move(cluster.limited.remarks[static_cast<std::size_t>(place)], std::back_inserter(live.remarks));
  live.state = std::move(cluster.state);
  farm::check(live.state);
  return live;
}

}  // namespace podere::controller
