#include "podere/controller/histories.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "podere/farm/history.h"

namespace podere::controller {
namespace {

/// Of a farm that was looked at by another process, or not at all: its pods are assumed to have stood as they do now.
farm::History caught_up(const farm::State& state, std::size_t farm, const KeptHistory& kept,
                        const farm::Policy& policy) {
  farm::State alone{.now = std::min(kept.at, state.now), .farms = {state.farms[farm]}};
  alone.farms[0].history = kept.history;
  for (farm::Pod pod : state.pods) {
    if (pod.farm != static_cast<std::int32_t>(farm)) continue;
    pod.farm = 0;
    alone.pods.push_back(std::move(pod));
  }
  farm::advance_usage(alone, state.now, policy);
  return alone.farms[0].history;
}

void note_who_is_gone(farm::State& last, const farm::State& state) {
  std::unordered_set<std::string_view> there;
  for (const farm::Pod& pod : state.pods) there.insert(pod.uid);
  for (const farm::Pod& pod : last.pods) {
    if (!there.contains(pod.uid)) farm::note_gone(last, pod);
  }
}

bool is_held(const farm::Pod& pod) {
  return pod.node >= 0 && !pod.is_driver && !pod.is_reclaimed && pod.phase != farm::Phase::kEnding;
}

void note_who_was_placed(const farm::State& last, farm::State& state) {
  std::unordered_set<std::string_view> had_node;
  std::vector<std::int32_t> held(state.farms.size());
  for (const farm::Pod& pod : last.pods) {
    if (pod.node >= 0) had_node.insert(pod.uid);
  }
  const auto is_placed = [&](const farm::Pod& pod) { return is_held(pod) && !had_node.contains(pod.uid); };
  for (const farm::Pod& pod : state.pods) {
    held[static_cast<std::size_t>(pod.farm)] += is_held(pod) && !is_placed(pod);
  }
  for (const farm::Pod& pod : state.pods) {
    if (is_placed(pod)) farm::note_placed(state, pod.farm, ++held[static_cast<std::size_t>(pod.farm)]);
  }
}

}  // namespace

void Histories::advance(farm::State& state, const farm::Policy& policy, const Kept& kept) {
  std::unordered_map<std::string_view, const farm::History*> known;
  if (last_) {
    farm::advance_usage(*last_, state.now, policy);
    note_who_is_gone(*last_, state);
    for (const farm::Farm& farm : last_->farms) known.emplace(farm.key, &farm.history);
  }
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    if (const auto found = known.find(state.farms[f].key); found != known.end()) {
      state.farms[f].history = *found->second;
    } else if (const auto from_status = kept(f)) {
      state.farms[f].history = caught_up(state, f, *from_status, policy);
    }
  }
  if (last_) note_who_was_placed(*last_, state);
  farm::advance_usage(state, state.now, policy);  // no time: a farm that has what it is guaranteed is owed nothing
}

}  // namespace podere::controller
