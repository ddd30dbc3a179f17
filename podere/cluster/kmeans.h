// K-means: clusters of rows by their nearest centroid.
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::cluster {

/// Called "kmeans".
const algorithm::Algorithm& kmeans();

}  // namespace podere::cluster
