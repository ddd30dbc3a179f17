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
/// back, which releases what it holds, and its outlook says so. Gangs are tried in turn: the one that holds most first,
/// then the one that has been short for longest, then by key. A gang is held back if it is not whole beside those
/// before it, or would keep one of them from being so. So each gang that fits beside those before it starts. As they
/// are tried by halves, n gangs of which r are held back take some r log n decisions, and one where all are whole.
Decision start_gangs_whole(const State& state, const DecideWithout& decide);

}  // namespace podere::farm
