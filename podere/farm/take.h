// Whom to take so that those who wait have room.
#pragma once

#include <span>

#include "podere/farm/ledger.h"

namespace podere::farm {

/// Takes executors for the needs that have no room, guarantees or shares of farms of one priority: for guarantees from
/// farms over their guarantee, those of the lowest priority first, and of these those over their share; for shares from
/// farms of lower priority over their guarantee, likewise, then from farms of the same priority over their share. Where
/// all that is missing is that executors run their least time, their room is promised, and they are not taken yet. What
/// cannot be had is left without room, and says why.
void take_room(Ledger& ledger, std::span<Need> needs);

}  // namespace podere::farm
