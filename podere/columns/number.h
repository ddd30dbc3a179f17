// Numbers that files have and C++ does not.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace podere::columns {

/// A floating-point number of 16 bits (IEEE 754 binary16); float32 has all of them.
inline float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float size = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 0x1f) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent > 0) {
    size = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

/// Days of a number of units, as text with the same date is read: whole days, and what is left of one.
inline double days_of(std::int64_t units, std::int64_t units_in_day) {
  std::int64_t days = units / units_in_day, rest = units % units_in_day;
  if (rest < 0) {
    --days;
    rest += units_in_day;
  }
  return static_cast<double>(days) + static_cast<double>(rest) / static_cast<double>(units_in_day);
}

}  // namespace podere::columns
