// Gangs: farms whose guaranteed executors start together or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "podere/farm/policy.h"

namespace podere::farm {

/// Whether the executors that a farm `held` are too few for its start. Once it has started it keeps what it has,
/// whatever it loses.
inline bool is_starting_gang(const Farm& farm, std::int32_t held) {
  return held < farm.gang_size() && !farm.history.has_started;
}

/// A decision for which some farms, by index, ask for nothing.
using DecideWithout = std::function<Decision(const std::vector<bool>& held_back)>;

/// Decides such that each gang that has not started has a way to room for all of it, or asks for nothing: it is held
/// back, which gives back what it holds, and its outlook says so. Gangs are tried in turn, whoever holds most first,
/// then whoever has been short for longest, then by key; each is held back that is not whole beside those before it, or
/// would keep one of them from being so. So whoever fits beside those before it starts. As they are tried by halves, n
/// gangs of which r are held back take some r log n decisions, and one where all are whole.
Decision start_gangs_whole(const State& state, const DecideWithout& decide);

}  // namespace podere::farm
