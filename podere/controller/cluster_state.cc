#include "podere/controller/cluster_state.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace podere::controller {
namespace {

/// Makes a State part by part.
class Builder {
 public:
  Builder(const ClusterView& view, const Ownership& owners, const Scope& scope, double now)
      : view_(view), owners_(owners), scope_(scope), place_of_farm_(view.farms.size(), -1) {
    result_.state.now = now;
    result_.farms = scope.farms;
    for (std::size_t i = 0; i < scope.farms.size(); ++i) {
      place_of_farm_[static_cast<std::size_t>(scope.farms[i])] = static_cast<std::int32_t>(i);
    }
  }

  ClusterState build() {
    name_resources();
    add_nodes();
    add_farms();
    result_.limited = apply_limits(state(), scope_.limits);
    add_pods();
    settle_demands();
    return std::move(result_);
  }

 private:
  farm::State& state() { return result_.state; }

  std::int32_t place_of(std::size_t pod) const {
    const std::int32_t farm = owners_.farm_of_pod[pod];
    return farm < 0 ? -1 : place_of_farm_[static_cast<std::size_t>(farm)];
  }

  /// Those of every pod, then those that farms ask for.
  void name_resources() {
    std::set<std::string> asked;
    const auto note = [&](const PodNeeds& needs) {
      for (const auto& [name, amount] : needs.requests) {
        if (amount > 0) asked.insert(name);
      }
    };
    for (const std::int32_t farm : scope_.farms) {
      if (const auto& needs = view_.farms[static_cast<std::size_t>(farm)].second->needs) note(*needs);
    }
    for (std::size_t i = 0; i < view_.pods.size(); ++i) {
      if (place_of(i) >= 0) note(*view_.pods[i].second->needs);
    }
    state().resources = {"cpu", "memory", "pods"};
    for (const auto& name : asked) {
      if (std::ranges::find(state().resources, name) != state().resources.end()) continue;
      const bool is_full = state().resources.size() == farm::kMostResources;
      (is_full ? result_.ignored_resources : state().resources).push_back(name);
    }
  }

  farm::Resources resources_of(const Amounts& amounts) {
    farm::Resources resources;
    for (std::size_t r = 0; r < state().resources.size(); ++r) {
      const auto found = amounts.find(state().resources[r]);
      if (found != amounts.end()) resources.amounts[r] = found->second;
    }
    return resources;
  }

  void add_nodes() {
    for (const auto& [key, node] : view_.nodes) {
      node_places_.emplace(key.name, static_cast<std::int32_t>(state().nodes.size()));
      state().nodes.push_back({key.name, resources_of(node->allocatable), {}, node->is_schedulable});
    }
  }

  void add_farms() {
    for (const std::int32_t index : scope_.farms) {
      const auto& [key, object] = view_.farms[static_cast<std::size_t>(index)];
      farm_places_.emplace(key.text(), static_cast<std::int32_t>(state().farms.size()));
      farm::Farm farm{.key = key.text(),
                      .guaranteed = scope_.has_guarantees && !object->is_ending ? object->guaranteed : 0,
                      .wanted = object->wanted.value_or(object->has_template() ? 0 : object->maximum),
                      .maximum = object->maximum,
                      .weight = object->weight,
                      .priority = scope_.has_guarantees ? object->priority : 0,  // else it reclaims nothing
                      .is_gang = object->is_gang,
                      .min_runtime_seconds = object->min_runtime_seconds,
                      .drain_seconds = object->drain_seconds,
                      .template_shape = object->needs ? shape_of(object->needs) : -1,
                      .history = {}};
      if (object->is_ending) farm.wanted = 0;
      state().farms.push_back(std::move(farm));
    }
  }

  /// Of equal requests and the same nodes, however they are written, there is one shape.
  std::int32_t shape_of(const std::shared_ptr<const PodNeeds>& needs) {
    const auto [known, is_new] = shapes_.try_emplace(needs.get(), 0);
    if (!is_new) return known->second;
    const farm::Shape shape{resources_of(needs->requests), node_set_of(needs->rules)};
    const auto same = std::ranges::find_if(state().shapes, [&](const farm::Shape& other) {
      return other.node_set == shape.node_set && other.requests == shape.requests;
    });
    known->second = static_cast<std::int32_t>(same - state().shapes.begin());
    if (same == state().shapes.end()) state().shapes.push_back(shape);
    return known->second;
  }

  std::int32_t node_set_of(const NodeRules& rules) {
    farm::NodeSet nodes = farm::NodeSet::none(view_.nodes.size());
    std::size_t n_allowed = 0;
    for (std::size_t i = 0; i < view_.nodes.size(); ++i) {
      if (!rules.allow(view_.nodes[i].first.name, *view_.nodes[i].second)) continue;
      nodes.add(i);
      ++n_allowed;
    }
    if (n_allowed == view_.nodes.size()) nodes = farm::NodeSet::all();
    auto& sets = state().node_sets;
    const auto same = std::ranges::find(sets, nodes);
    const auto place = static_cast<std::int32_t>(same - sets.begin());
    if (same == sets.end()) sets.push_back(std::move(nodes));
    return place;
  }

  void add_pods() {
    for (std::size_t i = 0; i < view_.pods.size(); ++i) {
      const PodFacts& facts = *view_.pods[i].second;
      if (facts.is_finished) continue;
      const std::int32_t place = facts.node.empty() ? -1 : place_of_node(facts.node);
      if (place_of(i) >= 0) {
        add_pod(i, facts, place);
      } else if (place >= 0) {
        auto& used = state().nodes[static_cast<std::size_t>(place)].used_by_others;
        used += resources_of(facts.needs->requests);
        for (auto& amount : used.amounts) amount = std::min(amount, kMostOfAResource);
      }
    }
  }

  /// A node that is not there yet, or no longer, holds its pods until they are gone, and is not schedulable.
  std::int32_t place_of_node(const std::string& name) {
    const auto [found, is_unknown] = node_places_.try_emplace(name, static_cast<std::int32_t>(state().nodes.size()));
    if (is_unknown) state().nodes.push_back({name, {}, {}, false});
    return found->second;
  }

  void add_pod(std::size_t index, const PodFacts& facts, std::int32_t node) {
    farm::Pod pod{.uid = facts.uid,
                  .farm = place_of(index),
                  .node = node,
                  .shape = shape_of(facts.needs),
                  .shows_missing = facts.shows_missing,
                  .is_driver = facts.is_driver,
                  .is_outdated = is_outdated(place_of(index), facts),
                  .created = facts.created,
                  .ready_since = facts.ready_since,
                  .checkpointed = facts.checkpointed,
                  .is_reclaimed = facts.is_reclaimed,
                  .for_guarantee = facts.reclaimed.for_guarantee,
                  .deadline = facts.reclaimed.deadline};
    using enum farm::Phase;
    pod.phase = facts.is_ending ? kEnding : node < 0 ? kWaiting : facts.is_ready ? kReady : kStarting;
    // A user who may annotate pods may write any deadline.
    const double most = result_.limited.drain_seconds[static_cast<std::size_t>(pod.farm)];
    pod.deadline = facts.is_ending ? facts.ends_at : std::min(pod.deadline, state().now + most);
    if (const auto other = farm_places_.find(facts.reclaimed.for_farm);
        facts.is_reclaimed && other != farm_places_.end()) {
      if (other->second != pod.farm) pod.reclaimed_for = other->second;
    }
    state().pods.push_back(std::move(pod));
    result_.pods.push_back(static_cast<std::int32_t>(index));
  }

  /// Made of a template that the farm has no longer: pods that fit nowhere must not keep those of a fixed one waiting.
  bool is_outdated(std::int32_t farm, const PodFacts& facts) const {
    const FarmObject& object =
        *view_.farms[static_cast<std::size_t>(scope_.farms[static_cast<std::size_t>(farm)])].second;
    return !facts.template_mark.empty() && object.has_template() && facts.template_mark != object.template_mark;
  }

  void settle_demands() {
    for (std::size_t f = 0; f < state().farms.size(); ++f) {
      const FarmObject& object = *view_.farms[static_cast<std::size_t>(scope_.farms[f])].second;
      const bool is_blocked = scope_.blocked.contains(object.uid) || !object.fault.empty();
      if (is_blocked) hold_demand(state(), static_cast<std::int32_t>(f));
      state().farms[f].most_shown = most_shown(static_cast<std::int32_t>(f), object.uid);
    }
  }

  std::int32_t most_shown(std::int32_t farm, const std::string& uid) {
    const auto& key = view_.farms[static_cast<std::size_t>(scope_.farms[static_cast<std::size_t>(farm)])].first;
    if (scope_.full_namespaces.contains(key.in_namespace)) return 0;
    if (!scope_.unshown.contains(uid)) return farm::kNoCeiling;
    return static_cast<std::int32_t>(std::ranges::count_if(state().pods, [&](const farm::Pod& pod) {
      return pod.farm == farm && pod.shows_missing && pod.phase == farm::Phase::kWaiting;
    }));
  }

  const ClusterView& view_;
  const Ownership& owners_;
  const Scope& scope_;
  std::vector<std::int32_t> place_of_farm_;  // in the state; -1: not in scope
  std::unordered_map<std::string, std::int32_t> node_places_;
  std::unordered_map<std::string, std::int32_t> farm_places_;
  std::unordered_map<const PodNeeds*, std::int32_t> shapes_;
  ClusterState result_;
};

}  // namespace

Ownership find_owners(const ClusterView& view) {
  std::unordered_map<std::string_view, std::vector<std::int32_t>> farms_in;
  std::unordered_map<std::string_view, std::int32_t> farm_of_uid;
  for (std::size_t f = 0; f < view.farms.size(); ++f) {
    farms_in[view.farms[f].first.in_namespace].push_back(static_cast<std::int32_t>(f));
    farm_of_uid.emplace(view.farms[f].second->uid, static_cast<std::int32_t>(f));
  }
  Ownership owners{.farm_of_pod = std::vector<std::int32_t>(view.pods.size(), -1), .shared_with = {}};
  for (std::size_t i = 0; i < view.pods.size(); ++i) {
    const auto& [key, pod] = view.pods[i];
    if (pod->is_finished && !pod->is_made_by_a_farm()) continue;
    std::int32_t& owner = owners.farm_of_pod[i];
    if (pod->is_made_by_a_farm()) {  // whose pods are its own, even if that farm is gone
      const auto maker = farm_of_uid.find(pod->farm_uid);
      if (maker != farm_of_uid.end()) owner = maker->second;
      continue;
    }
    const auto candidates = farms_in.find(key.in_namespace);
    if (candidates == farms_in.end()) continue;
    for (const std::int32_t farm : candidates->second) {
      if (!view.farms[static_cast<std::size_t>(farm)].second->selector.matches(pod->labels)) continue;
      if (owner < 0) {
        owner = farm;
      } else {
        owners.shared_with[owner].insert(farm);
        owners.shared_with[farm].insert(owner);
      }
    }
  }
  return owners;
}

void hold_demand(farm::State& state, std::int32_t farm) {
  const auto n_staying = std::ranges::count_if(state.pods, [&](const farm::Pod& pod) {
    return pod.farm == farm && !pod.is_driver && !pod.is_reclaimed && pod.phase != farm::Phase::kEnding;
  });
  state.farms[static_cast<std::size_t>(farm)].most_made = static_cast<std::int32_t>(n_staying);
}

ClusterState cluster_state(const ClusterView& view, const Ownership& owners, const Scope& scope, double now) {
  return Builder(view, owners, scope, now).build();
}

}  // namespace podere::controller
