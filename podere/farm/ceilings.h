// What farms may have together, set by the administrators of the cluster.
#pragma once

#include "podere/farm/ledger.h"

namespace podere::farm {

/// Lets guarantees, and what farms ask for beyond, count as far as ceilings have room for. What is asked for counts, so
/// what one farm leaves of a ceiling others may have. Farms that together ask for more than a ceiling allows have equal
/// shares, by namespaces and then by farms, or less if they ask for less; guarantees first. Executors that would not
/// fit on an empty node leave others what others would have without them.
void apply_ceilings(Ledger& ledger);

}  // namespace podere::farm
