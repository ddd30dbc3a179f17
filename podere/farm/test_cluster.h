// States for tests.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "podere/farm/policy.h"
#include "podere/farm/state.h"

namespace podere::farm {

inline constexpr std::int64_t kCore = 1000;

/// A cluster whose executors want a core, or other shapes where a test says so, filled by the test.
class TestCluster {
 public:
  TestCluster() {
    state.now = 1000;
    state.resources = {"cpu", "memory", "nvidia.com/gpu"};
    state.node_sets = {NodeSet::all()};
    add_shape(1);
  }

  std::int32_t add_shape(int cores, int gpus = 0, std::int32_t node_set = 0) {
    state.shapes.push_back({{{cores * kCore, 0, gpus}}, node_set});
    return static_cast<std::int32_t>(state.shapes.size()) - 1;
  }

  std::int32_t add_node(int cores, int gpus = 0) {
    state.nodes.push_back({.name = fmt::format("node-{:03}", state.nodes.size()),
                           .allocatable = {{cores * kCore, 0, gpus}},
                           .used_by_others = {}});
    return static_cast<std::int32_t>(state.nodes.size()) - 1;
  }

  /// With a template of `shape`; -1: its pods are made by others.
  std::int32_t add_farm(const std::string& key, int guaranteed, int wanted, std::int32_t shape = 0) {
    state.farms.push_back({.key = key,
                           .guaranteed = guaranteed,
                           .wanted = wanted,
                           .maximum = 1000,
                           .drain_seconds = 60,
                           .template_shape = shape,
                           .history = {}});
    return static_cast<std::int32_t>(state.farms.size()) - 1;
  }

  /// Executors that are ready, on one node; on none they wait.
  void add_pods(std::int32_t farm, int count, std::int32_t node, std::int32_t shape = 0) {
    for (int i = 0; i < count; ++i) {
      state.pods.push_back(
          {.uid = fmt::format("{}-{}", state.farms[static_cast<std::size_t>(farm)].key, state.pods.size()),
           .farm = farm,
           .node = node,
           .shape = shape,
           .phase = node < 0 ? Phase::kWaiting : Phase::kReady});
    }
  }

  Pod& last_pod() { return state.pods.back(); }

  Decision decide(const Policy& policy = {}) const {
    check(state);
    return farm::decide(state, policy);
  }

  /// What was decided is carried out.
  void reclaim(const Decision& decision) {
    for (const Reclaim& reclaim : decision.reclaims) {
      Pod& pod = state.pods[static_cast<std::size_t>(reclaim.pod)];
      pod.is_reclaimed = true;
      pod.reclaimed_for = reclaim.for_farm;
      pod.for_guarantee = reclaim.for_guarantee;
      pod.deadline = reclaim.deadline;
    }
  }

  State state;
};

/// How many of each farm's executors are reclaimed.
inline std::map<std::string, int> reclaimed_from(const State& state, const Decision& decision) {
  std::map<std::string, int> reclaimed;
  for (const Reclaim& reclaim : decision.reclaims) ++reclaimed[state.farms[static_cast<std::size_t>(reclaim.from)].key];
  return reclaimed;
}

}  // namespace podere::farm
