// The farm manager of 2019 that Podere follows, as a baseline for simulations.
#pragma once

#include "podere/farm/policy.h"

namespace podere::farm {

/// Decides as that operator did, by what is known of its faults: it looks at counts, not at nodes; it counts pods that
/// are ending as running; a farm with pods that wait and fewer than its guarantee running needs as many as wait, at
/// most what is missing, whatever room is free; each farm over its guarantee loses its share rounded up; victims are
/// reclaimed by name, at once and without draining; all that farms want is created at once; a farm that wants fewer
/// loses all pods that wait. Only reclaims, creations and removals are filled. A reconstruction: where the faults leave
/// a choice it is in the operator's favor.
Decision decide_as_original(const State& state);

}  // namespace podere::farm
