#include "podere/farm/what_if.h"

#include <algorithm>
#include <map>

#include "podere/base/error.h"
#include "podere/base/nearest_name.h"
#include "podere/base/printable.h"
#include "podere/farm/explain.h"

namespace podere::farm {
namespace {

std::size_t find_farm(const State& state, std::string_view key) {
  const auto farm = std::ranges::find(state.farms, key, &Farm::key);
  if (farm != state.farms.end()) return static_cast<std::size_t>(farm - state.farms.begin());
  std::vector<std::string> keys;
  for (const Farm& other : state.farms) keys.push_back(other.key);
  const auto nearest = nearest_name(key, keys);
  throw_input_error("there is no farm {}{}", printable(key), nearest ? fmt::format("; there is '{}'", *nearest) : "");
}

std::map<std::string, std::int32_t> reclaimed_by_farm(const State& state, const Decision& decision) {
  std::map<std::string, std::int32_t> reclaimed;
  for (const Reclaim& reclaim : decision.reclaims) ++reclaimed[state.farms[static_cast<std::size_t>(reclaim.from)].key];
  return reclaimed;
}

std::int32_t released(const State& state, const Decision& decision, std::int32_t farm) {
  return static_cast<std::int32_t>(std::ranges::count_if(decision.removals, [&](const Removal& removal) {
    const Pod& pod = state.pods[static_cast<std::size_t>(removal.pod)];
    return removal.is_surplus && pod.farm == farm && pod.node >= 0;
  }));
}

/// Of a farm whose pods others make: the pods that these would make.
void add_pods(State& state, std::int32_t farm, std::int32_t executors) {
  const Pod* like = nullptr;
  for (const Pod& pod : state.pods) {
    if (pod.farm != farm || pod.is_driver) continue;
    like = &pod;
    executors -= pod.phase != Phase::kEnding && !pod.is_reclaimed;
  }
  if (like == nullptr) {
    throw_input_error("the pods of {} are made by others, and there is none to show what they are like",
                      printable(state.farms[static_cast<std::size_t>(farm)].key));
  }
  const std::int32_t shape = like->shape;
  for (; executors > 0; --executors) {
    state.pods.push_back(
        {.uid = fmt::format("what-if-{}", executors), .farm = farm, .shape = shape, .created = state.now});
  }
}

}  // namespace

WhatIf what_if(const State& state, const Policy& policy, std::string_view farm_key, std::int32_t executors) {
  const std::size_t f = find_farm(state, farm_key);
  const Farm& farm = state.farms[f];
  if (executors < 0 || executors > farm.maximum) {
    throw_input_error("{} executors, where {} may have 0 to {}", executors, printable(farm.key), farm.maximum);
  }
  const Decision before = decide(state, policy);
  State changed = state;
  changed.farms[f].wanted = executors;
  changed.farms[f].most_made = kNoCeiling;
  if (!farm.has_template()) add_pods(changed, static_cast<std::int32_t>(f), executors);
  const Decision after = decide(changed, policy);

  WhatIf answer{.before = before.outlooks[f],
                .after = after.outlooks[f],
                .sentence = sentences(changed, after)[f],
                .waits = waits(changed, after, static_cast<std::int32_t>(f)),
                .released = released(changed, after, static_cast<std::int32_t>(f))};
  const auto reclaimed_before = reclaimed_by_farm(state, before);
  for (const auto& [key, n_reclaimed] : reclaimed_by_farm(changed, after)) {
    const auto other = reclaimed_before.find(key);
    const std::int32_t more = n_reclaimed - (other == reclaimed_before.end() ? 0 : other->second);
    if (more > 0) answer.reclaimed_from.push_back({static_cast<std::int32_t>(find_farm(state, key)), more});
  }
  return answer;
}

}  // namespace podere::farm
