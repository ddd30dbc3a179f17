#include "podere/farm/history.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

namespace podere::farm {
namespace {

constexpr double kEpochsPerHalfLife = 8;

}  // namespace

void advance_usage(State& state, double now, const Policy& policy) {
  std::vector<std::int32_t> held(state.farms.size());
  std::vector<std::int32_t> kept(state.farms.size());
  for (const Pod& pod : state.pods) {
    if (pod.is_driver || pod.node < 0) continue;
    ++held[pod.farm];
    kept[pod.farm] += pod.phase != Phase::kEnding && !pod.is_reclaimed;
  }
  // Usage u follows du/dt = held - u ln 2 / half-life.
  const double fading = std::exp2(-std::max(0.0, now - state.now) / policy.half_life_seconds);
  const double most = policy.half_life_seconds / std::numbers::ln2;
  const double epoch = std::floor(now * kEpochsPerHalfLife / policy.half_life_seconds);
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    Farm& farm = state.farms[f];
    farm.history.usage = farm.history.usage * fading + held[f] * most * (1 - fading);
    if (farm.history.epoch != epoch) {
      farm.history.settled_usage = farm.history.usage;
      farm.history.epoch = epoch;
    }
    if (kept[f] >= std::min(farm.guaranteed, farm.asked())) {
      farm.history.rooms_owed = 0;
      farm.history.short_since = 0;
    } else if (farm.history.short_since == 0) {
      farm.history.short_since = now;
    }
    if (kept[f] >= farm.asked()) farm.history.shares_owed = 0;
    if (kept[f] >= std::min({farm.guaranteed, farm.wanted, farm.maximum})) farm.history.has_started = true;
    if (kept[f] == 0) farm.history.has_started = false;
  }
  state.now = now;
}

double next_epoch(double now, const Policy& policy) {
  const double seconds = policy.half_life_seconds / kEpochsPerHalfLife;
  return (std::floor(now / seconds) + 1) * seconds;
}

void note_gone(State& state, const Pod& pod) {
  const bool leaves_room = pod.node >= 0 && state.nodes[pod.node].is_schedulable;
  if (!pod.is_reclaimed || pod.reclaimed_for < 0 || !leaves_room) return;
  History& history = state.farms[pod.reclaimed_for].history;
  ++(pod.for_guarantee ? history.rooms_owed : history.shares_owed);
  history.last_freed = state.now;
}

void note_placed(State& state, std::int32_t farm, std::int32_t held) {
  Farm* owed = &state.farms[farm];
  const bool is_guaranteed = held <= std::min(owed->guaranteed, owed->asked());
  if (owed->history.rooms_owed == 0 && is_guaranteed) {
    // It has the room of another farm, for which room will be freed once more: such room is not lost.
    owed = &*std::ranges::max_element(state.farms, [](const Farm& a, const Farm& b) {
      return std::tie(a.history.rooms_owed, b.key) < std::tie(b.history.rooms_owed, a.key);
    });
  }
  std::int32_t& count = owed->history.rooms_owed > 0 ? owed->history.rooms_owed : owed->history.shares_owed;
  count = std::max(0, count - 1);
}

}  // namespace podere::farm
