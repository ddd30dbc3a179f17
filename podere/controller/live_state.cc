#include "podere/controller/live_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/controller/histories.h"
#include "podere/controller/json.h"
#include "podere/controller/pass.h"
#include "podere/controller/reconciler.h"
#include "podere/controller/rights.h"

namespace podere::controller {
namespace {

template <typename Kept>
void fill(kube::Client& client, const kube::Resource& resource, kube::Store<Kept>& store) {
  client.list_each(
      resource, {}, {}, [&] { store.begin_list(); }, [&](const Json& object) { store.put(object); });
  store.end_list();
}

std::size_t find_farm(const Objects<FarmObject>& farms, const kube::ObjectKey& key, const std::string& origin) {
  const auto found = std::ranges::find(farms, key, [](const auto& farm) { return farm.first; });
  if (found == farms.end()) {
    std::vector<std::string> names;
    for (const auto& [other, object] : farms) names.push_back(other.text());
    const auto nearest = nearest_name(key.text(), names);
    throw_input_error("there is no farm {} ({}){}", printable(key.text()), origin,
                      nearest ? fmt::format("; there is '{}'", *nearest) : "");
  }
  if (found->second->is_ending) throw_input_error("farm {} is being deleted ({})", key.text(), origin);
  return static_cast<std::size_t>(found - farms.begin());
}

/// Of a farm for which no pods are made by now, why; else empty.
std::string blocked_because(const FarmObject& farm) {
  const Json* const valid = condition_of({{"status", *farm.status}}, "Valid");
  if (valid == nullptr || kube::text_at(*valid, {"reason"}) != "NoPodsAreMade") return "";
  return std::string(kube::text_at(*valid, {"message"}));
}

std::vector<std::string> remarks_on(const FarmObject& farm, const std::string& manager) {
  std::vector<std::string> remarks;
  if (manager.empty()) remarks.emplace_back(kUnmanaged);
  if (!farm.fault.empty()) remarks.push_back(farm.fault);
  if (std::string why = blocked_because(farm); !why.empty()) remarks.push_back(std::move(why));
  if (!farm.status->contains("asOf")) remarks.emplace_back("no operator has looked at it so far");
  return remarks;
}

}  // namespace

LiveState read_live_state(kube::Client& client, const kube::ObjectKey& farm) {
  check_reader(client);
  NeedsTable needs;
  Stores stores(needs, [] {});
  fill(client, kFarmManagers, stores.managers);
  fill(client, kFarms, stores.farms);
  fill(client, kube::kNodes, stores.nodes);
  fill(client, kube::kPods, stores.pods);
  const ClusterView view{stores.pods.all(), stores.nodes.all(), stores.farms.all()};

  const std::size_t asked = find_farm(view.farms, farm, client.access().origin);
  const Assignment assignment = assign(view.farms, stores.managers.all());
  LiveState live{.manager = assignment.manager[asked],
                 .remarks = remarks_on(*view.farms[asked].second, assignment.manager[asked])};
  if (const auto manager = stores.managers.get({"", live.manager})) live.policy = manager->policy;

  Scope scope{.has_guarantees = !live.manager.empty()};
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
  live.state = std::move(cluster.state);
  farm::check(live.state);
  return live;
}

}  // namespace podere::controller
