// What farms may have together, set by whoever keeps the cluster.
#pragma once

#include "podere/farm/ledger.h"

namespace podere::farm {

/// Lets guarantees, and what farms ask for beyond, count as far as ceilings have room for. What is asked for counts, so
/// what one farm leaves of a ceiling others may have. Who asks for more together than a ceiling allows has equal parts,
/// by namespaces and then by farms, or less if it asks for less; guarantees first. Executors that not even an empty
/// node could take leave others what others would have without them.
void apply_ceilings(Ledger& ledger);

}  // namespace podere::farm
