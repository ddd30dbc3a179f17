// Linear regression: least squares, or ridge.
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::linear {

/// Called "linear".
const algorithm::Algorithm& linear_regression();

}  // namespace podere::linear
