// Executors in borrowed room, of farms whose pods the operator makes: created only where room is free.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/farm/capacity.h"
#include "podere/farm/ledger.h"

namespace podere::farm {

/// Executors that wait and were made of another template than the farm has now; those that run stay.
void remove_outdated(Ledger& ledger);

/// Has farms' executors removed that they no longer want: the youngest that wait, then as victims.
void remove_surplus(Ledger& ledger);

/// Of farms of a priority: removes executors beyond guarantees that wait and have no free room while others wait that
/// come before them, so that they do not compete for the room that is freed, and creates others while there is room
/// that nothing is promised of: each time for the farm with the smallest weighted share of borrowed room. Then those
/// that show what of guarantees is cut, while no executor waits for room that is to come free. Adds to `admitted` the
/// executors of each farm that thus wait for their start.
void admit(Ledger& ledger, const Capacity& capacity, std::int32_t priority, std::vector<std::int32_t>& admitted);

}  // namespace podere::farm
