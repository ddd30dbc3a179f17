// Mixtures of Gaussians: clusters with shapes of their own.
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::cluster {

/// Called "mixture".
const algorithm::Algorithm& mixture();

}  // namespace podere::cluster
