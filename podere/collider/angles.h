// Angles that have the same bits on every machine, which those of the C library may not have (see
// podere/base/portable_math.h). Right to 1e-9 or better: the features are float32.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace podere::collider {

struct SineCosine {
  double sine;
  double cosine;
};

/// Sine and cosine of `turns` whole turns, for turns in [-1, 1]: the nearest quarter turn is subtracted, and the rest
/// a, at most pi/4, goes into the power series.
inline SineCosine sine_cosine_of_turns(double turns) {
  const int quarter = static_cast<int>(turns * 4 + 8.5);  // 8 more, so that truncation is floor
  const double a = (turns - 0.25 * (quarter - 8)) * (2 * std::numbers::pi);
  const double s = a * a;
  const double sine =
      a * (1 + s * (-1. / 6 + s * (1. / 120 + s * (-1. / 5040 + s * (1. / 362880 + s * (-1. / 39916800))))));
  const double cosine =
      1 + s * (-1. / 2 + s * (1. / 24 + s * (-1. / 720 + s * (1. / 40320 + s * (-1. / 3628800 + s / 479001600)))));
  switch (quarter & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

/// The angle of (x, y) in [-pi, pi]; 0 for (0, 0). The ratio is brought to [0, 1], then within tan(pi/8) of 0 by
/// atan t = pi/4 + atan((t - 1) / (t + 1)), where the power series ends.
inline double angle_of(double x, double y) {
  const double ax = std::abs(x);
  const double ay = std::abs(y);
  const double low = std::min(ax, ay);
  const double high = std::max(ax, ay);
  if (high == 0) return 0;
  const bool beyond = low > high * (std::numbers::sqrt2 - 1);
  const double t = beyond ? (low - high) / (low + high) : low / high;
  const double s = t * t;
  double sum = 0;
  for (int i = 23; i >= 1; i -= 2) sum = 1. / i - s * sum;
  double angle = t * sum + (beyond ? std::numbers::pi / 4 : 0);
  if (ay > ax) angle = std::numbers::pi / 2 - angle;
  if (x < 0) angle = std::numbers::pi - angle;
  return y < 0 ? -angle : angle;
}

}  // namespace podere::collider
