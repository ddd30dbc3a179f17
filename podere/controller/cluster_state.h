// From objects of the cluster to the state that a decision is made from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podere/controller/farm_object.h"
#include "podere/controller/limits.h"
#include "podere/controller/node_facts.h"
#include "podere/controller/pod_facts.h"
#include "podere/farm/state.h"

namespace podere::controller {

template <typename Kept>
using Objects = std::vector<std::pair<kube::ObjectKey, std::shared_ptr<const Kept>>>;  // by key

/// What there is, with what was written and has not been seen yet.
struct ClusterView {
  Objects<PodFacts> pods;
  Objects<NodeFacts> nodes;
  Objects<FarmObject> farms;
};

/// Which farm each pod belongs to.
struct Ownership {
  std::vector<std::int32_t> farm_of_pod;                       ///< index in ClusterView::farms; -1: none
  std::map<std::int32_t, std::set<std::int32_t>> shared_with;  ///< farms that select pods of another
};

/// A pod belongs to the farm that made it, else to the first farm by key, in its namespace, whose selector matches.
Ownership find_owners(const ClusterView& view);

/// What is to be decided on: some of the farms.
struct Scope {
  std::vector<std::int32_t> farms = {};  ///< in ClusterView::farms
  bool has_guarantees = true;            ///< and priorities; else nothing is reclaimed
  /// Farms for which the API server makes no pods by now: they ask for no more than they have, so that nothing is
  /// reclaimed in vain.
  std::set<std::string> blocked = {};          ///< UIDs
  std::set<std::string> full_namespaces = {};  ///< where the API server refuses pods: none are there for show
  std::set<std::string> unshown = {};          ///< UIDs of farms of which no more can be made for show by now
  Limits limits = {};
};

/// A state, and what its entries are made from.
struct ClusterState {
  farm::State state;
  std::vector<std::int32_t> pods;   ///< in ClusterView::pods, of each pod of the state
  std::vector<std::int32_t> farms;  ///< in ClusterView::farms, of each farm
  Limited limited;
  std::vector<std::string> ignored_resources;  ///< that farms ask for beyond the most that a state can have
};

/// Of which no pods are made: it asks for no more than it has, and a gang that has not started cannot.
void hold_demand(farm::State& state, std::int32_t farm);

/// Pods of other farms and of none are in Node::used_by_others. Histories are left empty. check() accepts the state.
ClusterState cluster_state(const ClusterView& view, const Ownership& owners, const Scope& scope, double now);

}  // namespace podere::controller
