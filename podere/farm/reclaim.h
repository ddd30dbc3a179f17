// Which executors to reclaim so that those that wait have room.
#pragma once

#include <span>

#include "podere/farm/ledger.h"

namespace podere::farm {

/// Reclaims executors for the needs that have no room, guarantees or shares of farms of one priority: for guarantees
/// from farms over their guarantee, those of the lowest priority first, and of these those over their share; for shares
/// from farms of lower priority over their guarantee, likewise, then from farms of the same priority over their share.
/// Where all that is missing is that executors run their least time, their room is promised, and they are not reclaimed
/// yet. A need that cannot be met is left without room, and its `wait` says why.
void reclaim_room(Ledger& ledger, std::span<Need> needs);

}  // namespace podere::farm
