// What is remembered of farms: what they used, and what became of room that was freed for them.
#pragma once

#include "podere/farm/policy.h"
#include "podere/farm/state.h"

namespace podere::farm {

/// Lets time pass to `now`, in which the pods of the state stood as they do: usage grows by the executors that farms
/// hold and fades with the half-life. Decisions see usage as it was at the begin of an epoch of an eighth of the
/// half-life, so that shares stand still in between. A farm that has what it is guaranteed is owed no room, and has
/// started; of others it is noted since when they have not.
void advance_usage(State& state, double now, const Policy& policy);

/// When the epoch after `now` begins.
double next_epoch(double now, const Policy& policy);

/// Call it when a pod is gone: if it was reclaimed for a farm, that farm is owed its room.
void note_gone(State& state, const Pod& pod);

/// Call it when an executor of a farm got a node. `held`: executors that the farm now has on nodes and that are to
/// stay.
void note_placed(State& state, std::int32_t farm, std::int32_t held);

}  // namespace podere::farm
