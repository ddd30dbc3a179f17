#include "podere/farm/original.h"

#include <algorithm>
#include <numeric>

namespace podere::farm {
namespace {

struct Group {
  std::vector<std::int32_t> running;  // not draining
  std::vector<std::int32_t> waiting;
  std::int32_t n_ending = 0;
  std::int32_t demand = 0;

  std::int32_t counted() const { return static_cast<std::int32_t>(running.size()) + n_ending; }
};

std::vector<Group> group(const State& state) {
  std::vector<Group> groups(state.farms.size());
  for (std::size_t f = 0; f < groups.size(); ++f)
    groups[f].demand = std::min(state.farms[f].wanted, state.farms[f].maximum);
  for (std::size_t i = 0; i < state.pods.size(); ++i) {
    const Pod& pod = state.pods[i];
    Group& group = groups[pod.farm];
    if (pod.is_driver) continue;
    if (pod.phase == Phase::kEnding || pod.is_reclaimed) {
      group.n_ending += pod.node >= 0;
    } else {
      (pod.node >= 0 ? group.running : group.waiting).push_back(static_cast<std::int32_t>(i));
    }
  }
  const auto by_name = [&](std::int32_t a, std::int32_t b) { return state.pods[a].uid < state.pods[b].uid; };
  for (Group& group : groups) std::ranges::sort(group.running, by_name);
  return groups;
}

/// Each farm is brought to what it wants; what it has too many of ends, and so still counts.
void scale(const State& state, std::vector<Group>& groups, Decision& decision) {
  for (std::size_t f = 0; f < groups.size(); ++f) {
    Group& group = groups[f];
    if (!state.farms[f].has_template()) continue;
    const auto index = static_cast<std::int32_t>(f);
    const auto n_running = static_cast<std::int32_t>(group.running.size());
    std::int32_t missing = group.demand - n_running - static_cast<std::int32_t>(group.waiting.size());
    for (; missing > 0; --missing) decision.creations.push_back({index, -1, false});
    if (missing == 0) continue;
    for (const std::int32_t pod : group.waiting) decision.removals.push_back({pod, state.now, true});
    for (; static_cast<std::int32_t>(group.running.size()) > group.demand; group.running.pop_back()) {
      decision.removals.push_back({group.running.back(), state.now, true});
      ++group.n_ending;
    }
  }
}

}  // namespace

Decision decide_as_original(const State& state) {
  std::vector<Group> groups = group(state);
  Decision decision;
  scale(state, groups, decision);
  const auto over = [&](std::size_t f) {
    return std::max(0, groups[f].counted() - std::min(state.farms[f].guaranteed, groups[f].demand));
  };
  std::int64_t all_over = 0;
  for (std::size_t f = 0; f < groups.size(); ++f) all_over += over(f);
  for (std::size_t f = 0; f < groups.size() && all_over > 0; ++f) {
    const std::int32_t missing = std::min(state.farms[f].guaranteed, groups[f].demand) - groups[f].counted();
    const std::int64_t need = std::min<std::int64_t>(missing, static_cast<std::int64_t>(groups[f].waiting.size()));
    for (std::size_t from = 0; from < groups.size() && need > 0; ++from) {
      const std::int64_t part = (need * over(from) + all_over - 1) / all_over;
      auto& running = groups[from].running;
      for (std::int64_t i = 0; i < part && !running.empty(); ++i) {
        decision.reclaims.push_back(
            {running.front(), static_cast<std::int32_t>(from), static_cast<std::int32_t>(f), true, state.now});
        running.erase(running.begin());
        ++groups[from].n_ending;  // and so it still counts
      }
    }
  }
  return decision;
}

}  // namespace podere::farm
