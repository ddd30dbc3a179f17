#include "podere/farm/state.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::farm {
namespace {

void check_index(std::int64_t index, std::size_t size, std::int64_t least, const std::string& of, const char* what) {
  if (index < least || index >= static_cast<std::int64_t>(size)) {
    throw_input_error("{}: {} {} is not one of the {} there are", of, what, index, size);
  }
}

void check_amount(double value, double least, const std::string& of, const char* what) {
  if (!std::isfinite(value) || value < least) {
    throw_input_error("{}: {} is {}, which is not a number from {}", of, what, value, least);
  }
}

void check_resources(const Resources& resources, const std::string& of) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;  // so that sums over many nodes are exact, and do not overflow
  for (const std::int64_t amount : resources.amounts) {
    if (amount < 0 || amount > kMost) throw_input_error("{}: {} of a resource, where 0 to 2^53 can be", of, amount);
  }
}

template <typename Items, typename Name>
void check_unique(const Items& items, const char* what, Name name_of) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const auto& item : items) names.emplace_back(name_of(item));
  std::ranges::sort(names);
  if (!names.empty() && names.front().empty()) throw_input_error("a {} has no name", what);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) throw_input_error("the {} {} is there twice", what, printable(*twice));
}

void check_farm(const Farm& farm, const State& state) {
  const std::string name = "farm " + printable(farm.key);
  check_amount(farm.guaranteed, 0, name, "the guaranteed number");
  check_amount(farm.wanted, 0, name, "the wanted number");
  if (farm.maximum < farm.guaranteed) {
    throw_input_error("{}: at most {} executors, which is less than the {} guaranteed", name, farm.maximum,
                      farm.guaranteed);
  }
  check_amount(farm.weight, 1e-6, name, "the weight");
  check_amount(farm.min_runtime_seconds, 0, name, "the least run time");
  check_amount(farm.drain_seconds, 0, name, "the time to drain");
  check_amount(farm.history.settled_usage, 0, name, "the usage");
  check_index(farm.template_shape, state.shapes.size(), -1, name, "shape");
}

void check_pod(const Pod& pod, const State& state) {
  const std::string name = "pod " + printable(pod.uid);
  check_index(pod.farm, state.farms.size(), 0, name, "farm");
  check_index(pod.node, state.nodes.size(), -1, name, "node");
  check_index(pod.shape, state.shapes.size(), 0, name, "shape");
  check_index(pod.reclaimed_for, state.farms.size(), -1, name, "farm");
  const bool needs_node = pod.phase == Phase::kStarting || pod.phase == Phase::kReady;
  if (needs_node && pod.node < 0) throw_input_error("{} runs without a node", name);
  if (pod.phase == Phase::kWaiting && pod.node >= 0) throw_input_error("{} waits though it has a node", name);
}

void check_ceiling(const Ceiling& ceiling, const State& state) {
  const std::string name = "ceiling " + printable(ceiling.name);
  for (const std::int32_t farm : ceiling.farms) check_index(farm, state.farms.size(), 0, name, "farm");
  check_amount(ceiling.guaranteed, 0, name, "the guaranteed number");
  check_amount(ceiling.maximum, 0, name, "the most");
}

}  // namespace

bool NodeSet::is_subset_of(const NodeSet& other) const {
  if (other.words_.empty()) return true;
  if (words_.empty()) return false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0)) != 0) return false;
  }
  return true;
}

void check(const State& state) {
  if (state.resources.size() > kMostResources) {
    throw_input_error("{} resources, where {} are the most", state.resources.size(), kMostResources);
  }
  for (const Shape& shape : state.shapes) {
    check_index(shape.node_set, state.node_sets.size(), 0, "a shape", "set of nodes");
    check_resources(shape.requests, "a shape");
  }
  for (const Node& node : state.nodes) {
    check_resources(node.allocatable, "node " + printable(node.name));
    check_resources(node.used_by_others, "node " + printable(node.name));
  }
  for (const Farm& farm : state.farms) check_farm(farm, state);
  for (const Pod& pod : state.pods) check_pod(pod, state);
  for (const Ceiling& ceiling : state.ceilings) check_ceiling(ceiling, state);
  check_unique(state.resources, "resource", [](const std::string& name) -> std::string_view { return name; });
  check_unique(state.nodes, "node", [](const Node& node) -> std::string_view { return node.name; });
  check_unique(state.farms, "farm", [](const Farm& farm) -> std::string_view { return farm.key; });
  check_unique(state.pods, "pod", [](const Pod& pod) -> std::string_view { return pod.uid; });
}

}  // namespace podere::farm
