#include "podere/farm/cluster_json.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"

namespace podere::farm {
namespace {

constexpr double kMostAmount = 0x1p40;  // sums over all nodes are exact

/// How much of a resource its unit in files is.
double unit_of(const std::string& resource) {
  if (resource == "cpu") return 1000;
  if (resource == "memory") return 0x1p30;
  return 1;
}

std::size_t index_of(const std::string& name, std::vector<std::string>& resources) {
  const auto found = std::ranges::find(resources, name);
  if (found == resources.end()) {
    if (resources.size() == kMostResources) throw_input_error("more than {} resources", kMostResources);
    resources.push_back(name);
    return resources.size() - 1;
  }
  return static_cast<std::size_t>(found - resources.begin());
}

template <typename T>
void read_member(const Json& json, const char* name, T least, T most, T& value) {
  const auto member = json.find(name);
  if (member == json.end()) return;
  T read{};
  read_json(*member, name, read);
  if (!(read >= least && read <= most))
    throw_input_error("'{}' is {}, which is not from {} to {}", name, read, least, most);
  value = read;
}

}  // namespace

void check_members(const Json& json, std::initializer_list<const char*> names) {
  const std::vector<std::string> known(names.begin(), names.end());
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto nearest = nearest_name(name, known);
    throw_input_error("{} is none of the names there are{}", printable(name),
                      nearest ? fmt::format("; '{}' is", *nearest) : std::string());
  }
}

Resources read_resources(const Json& json, std::vector<std::string>& resources,
                         std::initializer_list<const char*> other_names) {
  if (resources.empty()) resources = {"cpu", "memory"};
  Resources amounts;
  for (const auto& [name, value] : json.items()) {
    const std::string& resource = name;
    if (std::ranges::any_of(other_names, [&](const char* other) { return resource == other; })) continue;
    if (name.empty()) throw_input_error("a resource has no name");
    if (!value.is_number())
      throw_input_error("{} is {}, which is not an amount", printable(name), printable(value.dump()));
    const double amount = std::round(value.get<double>() * unit_of(name));
    if (!(amount >= 0 && amount <= kMostAmount)) {
      throw_input_error("{} is {}, which is not an amount from 0 to {}", printable(name), value.dump(),
                        kMostAmount / unit_of(name));
    }
    amounts.amounts[index_of(name, resources)] = static_cast<std::int64_t>(amount);
  }
  return amounts;
}

Json resources_json(const Resources& amounts, const std::vector<std::string>& resources) {
  Json json = Json::object();
  for (std::size_t r = 0; r < resources.size(); ++r) {
    if (amounts.amounts[r] != 0) json[resources[r]] = static_cast<double>(amounts.amounts[r]) / unit_of(resources[r]);
  }
  return json;
}

ExecutorNeeds read_executor(const Json& json, std::vector<std::string>& resources) {
  if (!json.is_object()) throw_input_error("'executor' is {}, which is not an object", printable(json.dump()));
  ExecutorNeeds executor{.requests = read_resources(json, resources, {"nodes"}), .nodes = {}};
  if (json.contains("nodes")) read_json(json["nodes"], "nodes", executor.nodes);
  return executor;
}

void read_farm_members(const Json& json, Farm& farm) {
  constexpr double kMostSeconds = 1e9;
  read_member(json, "guaranteed", 0, kMostExecutors, farm.guaranteed);
  read_member(json, "wanted", 0, kMostExecutors, farm.wanted);
  read_member(json, "maximum", 0, kMostExecutors, farm.maximum);
  read_member(json, "weight", 1e-6, 1e6, farm.weight);
  read_member(json, "priority", -kHighestPriority, kHighestPriority, farm.priority);
  if (json.contains("gang")) read_json(json["gang"], "gang", farm.is_gang);
  read_member(json, "min_runtime_seconds", 0.0, kMostSeconds, farm.min_runtime_seconds);
  read_member(json, "drain_seconds", 0.0, kMostSeconds, farm.drain_seconds);
  if (farm.maximum < farm.guaranteed) {
    throw_input_error("'maximum' is {}, which is less than the {} guaranteed", farm.maximum, farm.guaranteed);
  }
}

std::int32_t shape_of(const ExecutorNeeds& executor, State& state) {
  NodeSet set = NodeSet::all();
  if (!executor.nodes.empty()) set = NodeSet::none(state.nodes.size());
  for (const std::string& name : executor.nodes) {
    const auto node = std::ranges::find(state.nodes, name, &Node::name);
    if (node == state.nodes.end()) throw_input_error("there is no node {}", printable(name));
    set.add(static_cast<std::size_t>(node - state.nodes.begin()));
  }
  auto known_set = std::ranges::find(state.node_sets, set);
  if (known_set == state.node_sets.end()) known_set = state.node_sets.insert(known_set, set);
  const auto index = static_cast<std::int32_t>(known_set - state.node_sets.begin());
  const auto known = std::ranges::find_if(
      state.shapes, [&](const Shape& shape) { return shape.node_set == index && shape.requests == executor.requests; });
  if (known != state.shapes.end()) return static_cast<std::int32_t>(known - state.shapes.begin());
  state.shapes.push_back({executor.requests, index});
  return static_cast<std::int32_t>(state.shapes.size()) - 1;
}

}  // namespace podere::farm
