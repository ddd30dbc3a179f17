#include "podere/farm/state_json.h"

#include <algorithm>
#include <array>
#include <map>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/printable.h"
#include "podere/base/written_json.h"
#include "podere/farm/cluster_json.h"

namespace podere::farm {
namespace {

constexpr std::array<const char*, 4> kPhases = {"waiting", "starting", "ready", "ending"};

Phase read_phase(const Json& json) {
  std::string word;
  read_json(json, "phase", word);
  const auto phase = std::ranges::find(kPhases, word);
  if (phase == kPhases.end()) throw_input_error("{} is not waiting, starting, ready or ending", printable(word));
  return static_cast<Phase>(phase - kPhases.begin());
}

template <typename T>
void read_member(const Json& json, const char* name, T& value) {
  if (json.contains(name)) read_json(json[name], name, value);
}

const Json& needed(const Json& json, const char* name) {
  if (!json.is_object() || !json.contains(name)) throw_input_error("there is no '{}'", name);
  return json[name];
}

class StateReader {
 public:
  State read(const Json& json) {
    check_members(json, {"now", "nodes", "farms", "pods", "ceilings"});
    state_.node_sets = {NodeSet::all()};
    read_json(needed(json, "now"), "now", state_.now);
    each(json, "nodes", [&](const Json& node) { read_node(node); });
    each(json, "farms", [&](const Json& farm) { read_farm(farm); });
    each(json, "pods", [&](const Json& pod) { read_pod(pod); });
    if (json.contains("ceilings")) each(json, "ceilings", [&](const Json& ceiling) { read_ceiling(ceiling); });
    check(state_);
    return std::move(state_);
  }

 private:
  template <typename Read>
  static void each(const Json& json, const char* name, const Read& read) {
    const Json& items = needed(json, name);
    if (!items.is_array()) throw_input_error("'{}' is {}, which is not a list", name, printable(items.dump()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      try {
        read(items[i]);
      } catch (const InputError& error) {
        throw_input_error("{}[{}]: {}", name, i, error.what());
      }
    }
  }

  static std::int32_t index_of(const std::map<std::string, std::int32_t>& names, const Json& json, const char* what) {
    std::string name;
    read_json(json, what, name);
    const auto found = names.find(name);
    if (found == names.end()) throw_input_error("there is no {} {}", what, printable(name));
    return found->second;
  }

  void read_node(const Json& json) {
    check_members(json, {"name", "allocatable", "used_by_others", "schedulable", "takes_pods"});
    Node node;
    read_json(needed(json, "name"), "name", node.name);
    node.allocatable = read_resources(needed(json, "allocatable"), state_.resources, {});
    if (json.contains("used_by_others"))
      node.used_by_others = read_resources(json["used_by_others"], state_.resources, {});
    read_member(json, "takes_pods", node.is_schedulable);  // as older versions wrote it
    read_member(json, "schedulable", node.is_schedulable);
    nodes_[node.name] = static_cast<std::int32_t>(state_.nodes.size());
    state_.nodes.push_back(std::move(node));
  }

  void read_farm(const Json& json) {
    check_members(
        json, {"key", "guaranteed", "wanted", "maximum", "weight", "priority", "gang", "started", "min_runtime_seconds",
               "drain_seconds", "used_executor_seconds", "executor", "pods_made_by_others"});
    Farm farm;
    read_json(needed(json, "key"), "key", farm.key);
    farm.maximum = kMostExecutors;
    read_farm_members(json, farm);
    read_member(json, "used_executor_seconds", farm.history.settled_usage);
    read_member(json, "started", farm.history.has_started);
    const std::int32_t shape = shape_of(read_executor(needed(json, "executor"), state_.resources), state_);
    shapes_.push_back(shape);
    bool is_adopted = false;
    read_member(json, "pods_made_by_others", is_adopted);
    if (!is_adopted) farm.template_shape = shape;
    farms_[farm.key] = static_cast<std::int32_t>(state_.farms.size());
    state_.farms.push_back(std::move(farm));
  }

  void read_pod(const Json& json) {
    check_members(json, {"uid", "farm", "node", "phase", "driver", "executor", "created", "ready_since", "checkpointed",
                         "reclaimed", "reclaimed_for", "taken", "taken_for", "for_share", "deadline", "shows_missing"});
    bool is_for_share = false;
    read_member(json, "for_share", is_for_share);
    Pod pod{.for_guarantee = !is_for_share};
    read_json(needed(json, "uid"), "uid", pod.uid);
    pod.farm = index_of(farms_, needed(json, "farm"), "farm");
    pod.phase = read_phase(needed(json, "phase"));
    if (json.contains("node")) pod.node = index_of(nodes_, json["node"], "node");
    pod.shape = shapes_[static_cast<std::size_t>(pod.farm)];
    if (json.contains("executor")) pod.shape = shape_of(read_executor(json["executor"], state_.resources), state_);
    read_member(json, "driver", pod.is_driver);
    read_member(json, "shows_missing", pod.shows_missing);
    read_member(json, "created", pod.created);
    read_member(json, "ready_since", pod.ready_since);
    read_member(json, "checkpointed", pod.checkpointed);
    read_member(json, "taken", pod.is_reclaimed);  // as older versions wrote it
    read_member(json, "reclaimed", pod.is_reclaimed);
    read_member(json, "deadline", pod.deadline);
    for (const char* const name : {"taken_for", "reclaimed_for"}) {  // the first as older versions wrote it
      if (!json.contains(name)) continue;
      pod.reclaimed_for = index_of(farms_, json[name], "farm");
      pod.is_reclaimed = true;
    }
    state_.pods.push_back(std::move(pod));
  }

  void read_ceiling(const Json& json) {
    check_members(json, {"name", "farms", "guaranteed", "maximum"});
    Ceiling ceiling;
    read_json(needed(json, "name"), "name", ceiling.name);
    read_member(json, "guaranteed", ceiling.guaranteed);
    read_member(json, "maximum", ceiling.maximum);
    std::vector<std::string> keys;
    read_json(needed(json, "farms"), "farms", keys);
    for (const std::string& key : keys) ceiling.farms.push_back(index_of(farms_, Json(key), "farm"));
    state_.ceilings.push_back(std::move(ceiling));
  }

  State state_;
  std::map<std::string, std::int32_t> nodes_;
  std::map<std::string, std::int32_t> farms_;
  std::vector<std::int32_t> shapes_;  // of farms' executors
};

Json executor_json(const State& state, std::int32_t index) {
  const Shape& shape = state.shapes[static_cast<std::size_t>(index)];
  const NodeSet& set = state.node_sets[static_cast<std::size_t>(shape.node_set)];
  Json json = resources_json(shape.requests, state.resources);
  if (set == NodeSet::all()) return json;
  json["nodes"] = Json::array();
  for (std::size_t n = 0; n < state.nodes.size(); ++n) {
    if (set.contains(n)) json["nodes"].push_back(state.nodes[n].name);
  }
  return json;
}

Json pod_json(const State& state, const Pod& pod) {
  Json json = {{"uid", pod.uid},
               {"farm", state.farms[static_cast<std::size_t>(pod.farm)].key},
               {"phase", kPhases[static_cast<std::size_t>(pod.phase)]},
               {"executor", executor_json(state, pod.shape)},
               {"created", pod.created},
               {"ready_since", pod.ready_since},
               {"checkpointed", pod.checkpointed}};
  if (pod.node >= 0) json["node"] = state.nodes[static_cast<std::size_t>(pod.node)].name;
  if (pod.is_driver) json["driver"] = true;
  if (pod.shows_missing) json["shows_missing"] = true;
  if (pod.is_reclaimed) json["reclaimed"] = true;
  if (pod.reclaimed_for >= 0) json["reclaimed_for"] = state.farms[static_cast<std::size_t>(pod.reclaimed_for)].key;
  if (!pod.for_guarantee) json["for_share"] = true;
  if (pod.deadline != 0) json["deadline"] = pod.deadline;
  return json;
}

Json ceiling_json(const State& state, const Ceiling& ceiling) {
  Json json = {{"name", ceiling.name}, {"farms", Json::array()}};
  for (const std::int32_t farm : ceiling.farms) {
    json["farms"].push_back(state.farms[static_cast<std::size_t>(farm)].key);
  }
  if (ceiling.guaranteed != kNoCeiling) json["guaranteed"] = ceiling.guaranteed;
  if (ceiling.maximum != kNoCeiling) json["maximum"] = ceiling.maximum;
  return json;
}

}  // namespace

State parse_state(std::string_view text, const std::string& name) {
  try {
    return StateReader().read(parse_written_object(text));
  } catch (const InputError& error) {
    throw_input_error("{}: {}", name, error.what());
  }
}

std::string state_text(const State& state) {
  Json json = {{"now", state.now}, {"nodes", Json::array()}, {"farms", Json::array()}, {"pods", Json::array()}};
  for (const Node& node : state.nodes) {
    json["nodes"].push_back({{"name", node.name},
                             {"allocatable", resources_json(node.allocatable, state.resources)},
                             {"used_by_others", resources_json(node.used_by_others, state.resources)},
                             {"schedulable", node.is_schedulable}});
  }
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const Farm& farm = state.farms[f];
    const auto pod = std::ranges::find(state.pods, static_cast<std::int32_t>(f), &Pod::farm);
    const std::int32_t shape = farm.has_template() ? farm.template_shape : pod != state.pods.end() ? pod->shape : -1;
    json["farms"].push_back({{"key", farm.key},
                             {"guaranteed", farm.guaranteed},
                             {"wanted", farm.wanted},
                             {"maximum", farm.maximum},
                             {"weight", farm.weight},
                             {"priority", farm.priority},
                             {"gang", farm.is_gang},
                             {"started", farm.history.has_started},
                             {"min_runtime_seconds", farm.min_runtime_seconds},
                             {"drain_seconds", farm.drain_seconds},
                             {"used_executor_seconds", farm.history.settled_usage},
                             {"executor", shape < 0 ? Json::object() : executor_json(state, shape)},
                             {"pods_made_by_others", !farm.has_template()}});
  }
  for (const Pod& pod : state.pods) json["pods"].push_back(pod_json(state, pod));
  for (const Ceiling& ceiling : state.ceilings) json["ceilings"].push_back(ceiling_json(state, ceiling));
  return json.dump() + "\n";
}

}  // namespace podere::farm
