// Floating-point numbers of 16 bits (IEEE 754 binary16).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace podere::columns {

inline float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 0x1f) return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::nanf("");
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

}  // namespace podere::columns
