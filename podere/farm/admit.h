// Executors in lent room, of farms whose pods the operator makes: created only where room is free.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/farm/capacity.h"
#include "podere/farm/ledger.h"

namespace podere::farm {

/// Has farms' executors removed that they no longer want: the youngest that wait, then as victims.
void remove_surplus(Ledger& ledger);

/// Removes executors beyond guarantees that wait and have no free room while guarantees wait too, so that they do not
/// compete for the room that is freed, and creates others while there is room that nothing is promised of: each time
/// for the farm with the smallest weighted share of lent room. Returns the executors of each farm that thus wait for
/// their start.
std::vector<std::int32_t> admit(Ledger& ledger, const Capacity& capacity);

}  // namespace podere::farm
