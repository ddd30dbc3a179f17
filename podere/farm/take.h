// Whom to take so that those who wait have room.
#pragma once

#include <span>

#include "podere/farm/ledger.h"

namespace podere::farm {

/// Takes executors for the needs that have no room: for guarantees from farms over their guarantee, those over their
/// share first; for shares from farms over their share. Where all that is missing is that executors run their least
/// time, their room is promised, and they are not taken yet. What cannot be had is left without room, and says why.
void take_room(Ledger& ledger, std::span<Need> needs);

}  // namespace podere::farm
