// Real numbers as integers, so that their sums are exact.
#pragma once

#include <cmath>
#include <cstdint>

namespace podere::tree {

/// The largest power of two with which `n` values of at most `bound` in size add up below 2^62.
inline double fixed_point_scale(double bound, std::uint64_t n) {
  int exponent = 0;
  std::frexp(bound * static_cast<double>(n), &exponent);
  return std::ldexp(1.0, 62 - exponent);
}

}  // namespace podere::tree
