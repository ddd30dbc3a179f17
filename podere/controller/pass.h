// What one pass over the farms of a manager knows.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "podere/controller/actions.h"
#include "podere/controller/cluster_state.h"
#include "podere/farm/policy.h"

namespace podere::controller {

/// Which manager manages each farm: the first by name that selects it.
struct Assignment {
  std::vector<std::string> manager;              ///< of each farm; empty: none
  std::vector<std::vector<std::string>> others;  ///< that select it too
};
Assignment assign(const Objects<FarmObject>& farms, const Objects<ManagerObject>& managers);

/// The key of the farms of no manager.
inline const kube::ObjectKey kNoManager{};

inline std::string in_words(const kube::ObjectKey& manager) {
  return manager == kNoManager ? "farms of no manager" : "farm manager " + manager.name;
}

/// Of such a farm.
inline constexpr const char* kUnmanaged = "no farm manager selects it, so nothing is reclaimed for it";

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Indices of farms are those in the state, unless a comment says in the view.
struct Pass {
  const kube::ObjectKey key;
  const double now;
  const ClusterView view;
  const Assignment assignment;
  const std::shared_ptr<const ManagerObject> manager;  ///< null: of no manager
  const farm::Policy policy;
  const Ownership owners;

  Scope scope = {};
  std::set<std::string> refused_before = {};                ///< UIDs of farms whose pods the API server would not make
  std::map<std::string, std::string> blocked_because = {};  ///< no pods are made of it: by UID of the farm
  ClusterState cluster = {};
  farm::Decision decision = {};
  ActionResult result = {};
  double next_look = kNever;  ///< when time alone may change anything

  void look_again_at(double time) { next_look = std::min(next_look, std::max(time, now + 0.05)); }
  std::size_t in_view(std::size_t farm) const { return static_cast<std::size_t>(cluster.farms[farm]); }
  const kube::ObjectKey& farm_key(std::size_t farm) const { return view.farms[in_view(farm)].first; }
  const FarmObject& farm(std::size_t farm) const { return *view.farms[in_view(farm)].second; }
};

}  // namespace podere::controller
