// Executors that farms wait for, and room for them.
#pragma once

#include <span>

#include "podere/farm/capacity.h"
#include "podere/farm/ledger.h"

namespace podere::farm {

/// Adds what farms wait for below their guarantees. Large shapes come first, which few nodes have room for; then farms
/// that have waited longest: were those first that have the least, newcomers would get the last rooms of those before,
/// and among many that come and go some would never have all. Of those that came at once, the one that has the smallest
/// fraction of its guarantee.
void add_guarantee_needs(Ledger& ledger, const Capacity& capacity);

/// Adds what farms of a priority still wait for below their shares of borrowed room: to be reclaimed from farms of
/// lower priority, and if they are short by more than the tolerance, from others too. `admitted`: executors in borrowed
/// room, by farm, that wait for no more than their start.
void add_share_needs(Ledger& ledger, const Capacity& capacity, std::int32_t priority,
                     std::span<const std::int32_t> admitted);

/// Promises room: what is free, first to farms for which room was freed that they have not used yet, then what is freed
/// for the farm, then what else comes free.
void find_room(Ledger& ledger, std::span<Need> needs);

/// Of a farm, for the sake of fair shares: its weight, in history-aware mode by what it used.
double weight_of(const Farm& farm, const Policy& policy);

/// How much borrowed room a farm has, to be compared with other farms' once it has `executors`.
double borrowed_share(const Ledger& ledger, const Capacity& capacity, std::int32_t farm, std::int32_t executors);

}  // namespace podere::farm
