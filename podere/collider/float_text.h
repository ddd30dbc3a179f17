// A float32 as text, as fast as it can be written.
#pragma once

#include <cstddef>

namespace podere::collider {

/// Longest text of write_float: sign, 19 digits, point, exponent.
inline constexpr std::size_t kFloatTextBytes = 26;

/// Writes finite `value` at `out` exactly as C's printf("%.18e") does and returns the end. Needs kFloatTextBytes there.
char* write_float(char* out, float value);

}  // namespace podere::collider
