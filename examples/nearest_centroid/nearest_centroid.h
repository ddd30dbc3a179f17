// Nearest centroids: the smallest algorithm that Podere can train, as an example of how one is added.
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::examples {

/// Called "centroid". A row belongs to the class whose mean is nearest. See docs/extending.md.
const algorithm::Algorithm& nearest_centroid();

}  // namespace podere::examples
