// The weights of resize.
#pragma once

#include <cstdint>

#include "podere/image/resample_kernel.h"
#include "podere/image/resize.h"

namespace podere::image {

/// Places [first, first + n) of a side that is resized.
struct Places {
  std::uint64_t first = 0;
  std::uint32_t n = 0;
};

/// For a side of `n_old` pixels that becomes `n_new`, those of `places`: around the middle of each new pixel the
/// filter, widened by n_old / n_new where that is more than 1, at the middles of the old ones; so that they add up
/// to 1. Source: Pillow's Resample.c, precompute_coeffs and normalize_coeffs_8bpc.
Weights find_weights(std::uint32_t n_old, std::uint64_t n_new, const Places& places, Filter filter);

}  // namespace podere::image
