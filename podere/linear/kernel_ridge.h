// Kernel ridge regression by random Fourier features.
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::linear {

/// Called "kernel-ridge".
const algorithm::Algorithm& kernel_ridge();

}  // namespace podere::linear
