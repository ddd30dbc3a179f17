#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "podere/farm/history.h"
#include "podere/farm/test_history.h"

namespace podere::farm {
namespace {

constexpr std::int64_t kMillicores = 1000;
constexpr int kMostFarms = 5;
constexpr double kLongestDrain = 60;

}  // namespace

ModelCluster::ModelCluster(const HistoryOptions& options) : options_(options), random_(options.seed, 0, 0) {
  policy_.mode = options.mode;
  policy_.half_life_seconds = 20000;
  policy_.pending_pods = options.pending_pods;
  state_.resources = {"cpu", "gpu"};
  state_.node_sets = {NodeSet::all()};
  const int n_nodes = 2 + static_cast<int>(4 * uniform());
  for (int i = 0; i < n_nodes; ++i) {
    const int cores = 2 + static_cast<int>(4 * uniform());
    state_.nodes.push_back({.name = fmt::format("node-{}", i),
                            .allocatable = {{cores * kMillicores, !options.is_uniform && i % 2 == 0 ? 2 : 0}},
                            .used_by_others = {}});
  }
  state_.shapes = {{{{kMillicores}}, 0}};
  if (!options.is_uniform) {
    NodeSet first_two = NodeSet::none(state_.nodes.size());
    first_two.add(0);
    first_two.add(1);
    state_.node_sets.push_back(first_two);
    state_.shapes.push_back({{{2 * kMillicores}}, 0});
    state_.shapes.push_back({{{kMillicores, 1}}, 0});
    state_.shapes.push_back({{{kMillicores}}, 1});
    state_.shapes.push_back({{{3 * kMillicores}}, 0});
    state_.shapes.push_back({{{9 * kMillicores}}, 0});  // fits nowhere
  }
  for (std::uint16_t i = 0; i < 3; ++i)
    add_farm({0, static_cast<std::uint16_t>(7 * i + 1), static_cast<std::uint16_t>(5 * i)});
}

void ModelCluster::add_farm(const Happening& happening) {
  const int guaranteed = happening.a % 6;
  const bool is_adopted = options_.has_adopted_farms && chance(0.4);
  const auto shape = static_cast<std::int32_t>(happening.b % state_.shapes.size());
  const char* const in_namespace = !options_.has_ceilings ? "" : happening.b % 2 == 0 ? "capped/" : "free/";
  state_.farms.push_back({.key = fmt::format("{}farm-{}", in_namespace, n_names_++),
                          .guaranteed = guaranteed,
                          .wanted = happening.b % 12,
                          .maximum = 10,
                          .weight = 1.0 + happening.a % 3,
                          .priority = options_.has_priorities ? happening.a / 6 % 3 - 1 : 0,
                          .is_gang = options_.has_gangs && happening.a / 8 % 2 == 0,
                          .min_runtime_seconds = options_.has_least_runtime ? 100.0 * (happening.b % 3) : 0,
                          .drain_seconds = kLongestDrain,
                          .template_shape = is_adopted ? -1 : shape,
                          .history = {}});
}

void ModelCluster::live(const Happening& happening, const Judge& judge) {
  happen(happening);
  pass(1 + 40 * uniform());
  decide(judge, !options_.loses_decisions);
}

void ModelCluster::rest(const Judge& judge) {
  for (int i = 0; i < 400; ++i) {
    pass(options_.has_adopted_farms ? 60 : 15);
    decide(judge, true);
  }
}

void ModelCluster::happen(const Happening& happening) {
  if (happening.what % 8 != 0) reclaimed_pairs_.clear();
  Farm* farm = state_.farms.empty() ? nullptr : &state_.farms[happening.a % state_.farms.size()];
  switch (happening.what % 8) {
    case 1:
    case 2:
      if (farm != nullptr && !deleted_farms_.contains(farm->key)) farm->wanted = happening.b % 12;
      break;
    case 3:
      if (farm != nullptr && !deleted_farms_.contains(farm->key)) farm->guaranteed = happening.b % 7;
      break;
    case 4:
      if (state_.farms.size() < kMostFarms) add_farm(happening);
      break;
    case 5:
      if (farm == nullptr) break;
      deleted_farms_.insert(farm->key);
      farm->guaranteed = farm->wanted = 0;
      break;
    case 6:
      if (!state_.pods.empty()) {
        const std::string uid = state_.pods[happening.a % state_.pods.size()].uid;
        remove_pods([&](const Pod& pod) { return pod.uid == uid; });
      }
      break;
    case 7: {
      const auto index = static_cast<std::int32_t>(happening.a % state_.nodes.size());
      Node& node = state_.nodes[static_cast<std::size_t>(index)];
      node.is_schedulable = !node.is_schedulable;
      if (!node.is_schedulable && happening.b % 2 == 0) remove_pods([&](const Pod& pod) { return pod.node == index; });
      break;
    }
    default:
      break;  // time passes
  }
}

void ModelCluster::pass(double seconds) {
  advance_usage(state_, state_.now + seconds, policy_);
  end_pods();
  drive_adopted_farms();
  schedule();
  forget_deleted_farms();
}

/// Those that drain end when they like, those that were deleted before long.
void ModelCluster::end_pods() {
  for (Pod& pod : state_.pods) {
    if (pod.phase == Phase::kStarting && chance(0.6)) {
      pod.phase = Phase::kReady;
      pod.ready_since = state_.now;
    }
    if (pod.phase == Phase::kReady && chance(0.1)) pod.checkpointed = state_.now;
    if (pod.is_reclaimed && pod.phase != Phase::kEnding && chance(0.3)) pod.phase = Phase::kEnding;
  }
  remove_pods([&](const Pod& pod) { return pod.phase == Phase::kEnding && chance(0.7); });
}

bool ModelCluster::has_room(std::int32_t node, std::int32_t shape) const {
  const Node& n = state_.nodes[static_cast<std::size_t>(node)];
  const Shape& s = state_.shapes[static_cast<std::size_t>(shape)];
  if (!n.is_schedulable ||
      !state_.node_sets[static_cast<std::size_t>(s.node_set)].contains(static_cast<std::size_t>(node)))
    return false;
  Resources room = n.allocatable;
  for (const Pod& pod : state_.pods) {
    if (pod.node == node) room -= state_.shapes[static_cast<std::size_t>(pod.shape)].requests;
  }
  return fits(s.requests, room);
}

/// Binds most pods that wait to any node with room: in any order, or where pods of others compete, the oldest first.
void ModelCluster::schedule() {
  const auto n_nodes = static_cast<std::int32_t>(state_.nodes.size());
  const auto n_pods = state_.pods.size();
  const auto first =
      options_.has_adopted_farms ? 0 : static_cast<std::size_t>(uniform() * static_cast<double>(n_pods + 1));
  for (std::size_t i = 0; i < n_pods; ++i) {
    Pod& pod = state_.pods[(first + i) % n_pods];
    if (pod.phase != Phase::kWaiting || chance(0.3)) continue;
    const auto start = static_cast<std::int32_t>(uniform() * n_nodes);
    for (std::int32_t j = 0; j < n_nodes && pod.node < 0; ++j) {
      const std::int32_t node = (start + j) % n_nodes;
      if (!has_room(node, pod.shape)) continue;
      pod.node = node;
      pod.phase = Phase::kStarting;
      const auto is_held = [&](const Pod& other) {
        return other.farm == pod.farm && other.node >= 0 && !other.is_driver && !other.is_reclaimed &&
               other.phase != Phase::kEnding;
      };
      if (!pod.is_driver) {
        note_placed(state_, pod.farm, static_cast<std::int32_t>(std::ranges::count_if(state_.pods, is_held)));
      }
    }
  }
}

/// Others see to it that there are as many pods as are wanted.
void ModelCluster::drive_adopted_farms() {
  for (std::size_t f = 0; f < state_.farms.size(); ++f) {
    if (state_.farms[f].has_template()) continue;
    const auto is_own = [&](const Pod& pod) {
      return pod.farm == static_cast<std::int32_t>(f) && !pod.is_driver && !pod.is_reclaimed;
    };
    auto n = static_cast<int>(std::ranges::count_if(state_.pods, is_own));
    if (n < state_.farms[f].wanted && n == 0) {
      add_pod(static_cast<std::int32_t>(f), 0);
      state_.pods.back().is_driver = true;
    }
    for (; n < state_.farms[f].wanted; ++n) add_pod(static_cast<std::int32_t>(f), 0);
    if (state_.farms[f].wanted == 0)
      remove_pods([&](const Pod& pod) { return pod.farm == static_cast<std::int32_t>(f); });
  }
}

void ModelCluster::add_pod(std::int32_t farm, std::int32_t shape) {
  state_.pods.push_back(
      {.uid = fmt::format("pod-{}", n_names_++), .farm = farm, .shape = shape, .created = state_.now});
}

void ModelCluster::remove_pods(const std::function<bool(const Pod&)>& go) {
  std::erase_if(state_.pods, [&](const Pod& pod) {
    const bool goes = go(pod);
    if (goes) note_gone(state_, pod);
    return goes;
  });
}

void ModelCluster::forget_deleted_farms() {
  for (std::size_t f = 0; f < state_.farms.size();) {
    const auto index = static_cast<std::int32_t>(f);
    const bool is_gone = deleted_farms_.contains(state_.farms[f].key) &&
                         std::ranges::none_of(state_.pods, [&](const Pod& pod) { return pod.farm == index; });
    if (!is_gone) {
      ++f;
      continue;
    }
    state_.farms.erase(state_.farms.begin() + index);
    for (Pod& pod : state_.pods) {
      pod.farm -= pod.farm > index;
      pod.reclaimed_for = pod.reclaimed_for == index ? -1 : pod.reclaimed_for - (pod.reclaimed_for > index);
    }
  }
}

void ModelCluster::set_ceilings() {
  Ceiling ceiling{.name = "namespace capped", .farms = {}, .guaranteed = 5, .maximum = 9};
  for (std::size_t f = 0; f < state_.farms.size(); ++f) {
    if (state_.farms[f].key.starts_with("capped/")) ceiling.farms.push_back(static_cast<std::int32_t>(f));
  }
  state_.ceilings = {std::move(ceiling)};
}

void ModelCluster::decide(const Judge& judge, bool is_reliable) {
  if (options_.has_ceilings) set_ceilings();
  advance_usage(state_, state_.now, policy_);  // no time: who was placed is whole now
  check(state_);
  const Decision decision = farm::decide(state_, policy_);
  judge(state_, decision);
  for (const Reclaim& reclaim : decision.reclaims) {
    reclaimed_pairs_.emplace(state_.farms[static_cast<std::size_t>(reclaim.from)].key,
                             state_.farms[static_cast<std::size_t>(reclaim.for_farm)].key);
  }
  carry_out(decision, is_reliable ? 1 : uniform() < 0.3 ? 0.5 : 1);
}

/// With the probability that each part of it arrives.
void ModelCluster::carry_out(const Decision& decision, double probability) {
  const auto pod_of = [&](std::int32_t index) -> Pod& { return state_.pods[static_cast<std::size_t>(index)]; };
  for (const std::int32_t pod : decision.expired) pod_of(pod).phase = Phase::kEnding;
  for (const Reclaim& reclaim : decision.reclaims) {
    if (!chance(probability)) continue;
    for (int times = 0; times < 2; ++times) {
      pod_of(reclaim.pod).is_reclaimed = true;
      pod_of(reclaim.pod).reclaimed_for = reclaim.for_farm;
      pod_of(reclaim.pod).for_guarantee = reclaim.for_guarantee;
      pod_of(reclaim.pod).deadline = reclaim.deadline;
    }
  }
  std::set<std::string> gone;
  for (const Removal& removal : decision.removals) {
    if (!chance(probability)) continue;
    pod_of(removal.pod).is_reclaimed = true;
    pod_of(removal.pod).deadline = removal.deadline;
    if (pod_of(removal.pod).node < 0) gone.insert(pod_of(removal.pod).uid);
  }
  for (const Creation& creation : decision.creations) {
    const Farm& farm = state_.farms[static_cast<std::size_t>(creation.farm)];
    if (!chance(probability) || (farm.is_gang && creation.awaits_drain)) continue;
    add_pod(creation.farm, farm.template_shape);
    state_.pods.back().shows_missing = creation.shows_missing;
  }
  remove_pods([&](const Pod& pod) { return gone.contains(pod.uid); });
}

}  // namespace podere::farm
