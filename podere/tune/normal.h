// The normal distribution with the same bits on every machine.
#pragma once

#include <algorithm>
#include <cmath>

#include "podere/base/portable_math.h"

namespace podere::tune {

inline constexpr double kLogSqrt2Pi = 0x1.d67f1c864beb5p-1;  // 0.918938533204672741780329736406

inline double normal_density(double z) { return portable_exp(-0.5 * z * z - kLogSqrt2Pi); }

/// The integral of the density from -infinity to z, to an absolute error of 2e-15. Beyond 8.3 it is 0 or 1.
///   1/2 + density(z) (z + z^3/3 + z^5/(3*5) + z^7/(3*5*7) + ...)
/// Source: G. Marsaglia, "Evaluating the Normal Distribution", J. Stat. Softw. 11(4), 2004.
inline double normal_below(double z) {
  if (std::abs(z) > 8.3) return z < 0 ? 0 : 1;
  double term = z;
  double sum = z;
  for (double odd = 3; sum + term != sum || odd == 3; odd += 2) {
    term *= z * z / odd;
    sum += term;
    if (term == 0) break;
  }
  return 0.5 + sum * normal_density(z);
}

/// The integral from a to b; of a narrow slice its width times the density in its midst, as a difference of integrals
/// would be rounding alone.
inline double normal_between(double a, double b) {
  constexpr double kNarrow = 1e-3;
  if (b - a < kNarrow) return (b - a) * normal_density(0.5 * (a + b));
  return std::max(0.0, normal_below(b) - normal_below(a));
}

}  // namespace podere::tune
