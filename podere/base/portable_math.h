// exp, log and cosine that give the same bits on every IEEE-754 machine. Those of the C library choose their code by
// the processor (with and without fused multiply-add) and differ in the last bit, which is enough to grow another tree.
//
// Made of + - * / and bit operations. They need rounding to nearest and, as set for all of Podere, -ffp-contract=off;
// with -fno-trapping-math, which changes no result, loops over them vectorize: no branch is left. Which NaN is returned
// is left open.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace podere {
namespace portable_math_detail {

// ln 2 in two parts: 42 bits, so that the product with any exponent is exact, and the rest.
inline constexpr double kLn2High = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Low = 0x1.ef35793c7673p-45;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;

/// c0 + c1 x + c2 x^2 + ..., from the inside out (Horner).
template <typename... Rest>
constexpr double polynomial(double x, double c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return c0 + x * polynomial(x, rest...);
  }
}

}  // namespace portable_math_detail

/// e^x, less than 1 ulp off; 0 below -745.14, infinite above 709.79. The Taylor series after taking out powers of 2:
///   x = n ln 2 + r,  n an integer,  |r| <= (ln 2) / 2,  e^x = 2^n (1 + r + r^2/2! + ... + r^13/13!)
inline double portable_exp(double x) {
  using namespace portable_math_detail;
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  // Adding 1.5 * 2^52 rounds to an integer, which then is in the lowest bits.
  constexpr double kRound = 0x1.8p52;
  const double rounded = x * kLog2E + kRound;
  const double n = rounded - kRound;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  const double series = polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                                   1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  const double power = 1.0 + (r + r * r * series);
  // 2^n as a product of two halves, since n runs from -1076 to 1024: only the last product rounds.
  const std::uint64_t n_plus_2048 = std::bit_cast<std::uint64_t>(rounded) - std::bit_cast<std::uint64_t>(kRound) + 2048;
  const std::uint64_t half = n_plus_2048 / 2;  // n/2 + 1024
  const double scale1 = std::bit_cast<double>((half - 1) << 52);
  const double scale2 = std::bit_cast<double>((n_plus_2048 - half - 1) << 52);
  return power * scale1 * scale2;
}

/// The natural logarithm, less than 1 ulp off; -infinity at 0, NaN below. The series of the inverse hyperbolic tangent:
///   x = 2^k m,  sqrt(1/2) <= m < sqrt(2),  f = m - 1,  s = f / (2 + f),
///   log x = k ln 2 + log m,  log m = 2 (s + s^3/3 + s^5/5 + ... + s^21/21) = f - f^2/2 + s (f^2/2 + R),
///   R = 2 s^2/3 + 2 s^4/5 + ... + 2 s^20/21
/// where the last form of log m is used since f is exact.
inline double portable_log(double x) {
  using namespace portable_math_detail;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool is_subnormal = x < std::numeric_limits<double>::min();
  const double normal = is_subnormal ? x * 0x1p54 : x;
  // The exponent, as it is once m is to begin at sqrt(1/2), plus 1023.
  constexpr std::uint64_t kSqrtHalf = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1);
  const auto bits = std::bit_cast<std::uint64_t>(normal);
  const std::uint64_t k_biased = (bits - kSqrtHalf + (1023ULL << 52)) >> 52;
  const double m = std::bit_cast<double>(bits - (k_biased << 52) + (1023ULL << 52));
  // An integer below 2^52 in the lowest bits of 2^52 is its sum with 2^52.
  const double k = std::bit_cast<double>(std::bit_cast<std::uint64_t>(0x1p52) | k_biased) -
                   (is_subnormal ? 0x1p52 + 1023 + 54 : 0x1p52 + 1023);
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double s2 = s * s;
  const double series = s2 * polynomial(s2, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                        2.0 / 19, 2.0 / 21);
  const double half_f2 = 0.5 * f * f;
  const double log_x = k * kLn2High - ((half_f2 - (s * (half_f2 + series) + k * kLn2Low)) - f);
  const double nonpositive = x == 0.0 ? -kInf : std::numeric_limits<double>::quiet_NaN();
  return x > 0.0 ? (x < kInf ? log_x : x) : nonpositive;
}

/// cos(2 pi t), at most 5e-16 off; in [-1, 1] for all finite t, and of turns beyond 2^51 without a meaning. Whole turns
/// are taken out, and what is left begins where the sine is 0, whose Taylor series it is:
///   f = t - round(t),  g = 1/4 - |f|,  cos(2 pi t) = sin(2 pi g),  |2 pi g| <= pi/2
inline double cosine_of_turns(double t) {
  using namespace portable_math_detail;
  constexpr double kRound = 0x1.8p52;
  const double f = t - ((t + kRound) - kRound);
  const double magnitude = f < 0.0 ? -f : f;
  const double g = 0.25 - (magnitude < 0.5 ? magnitude : 0.5);
  const double x = g * 0x1.921fb54442d18p+2;  // 2 pi
  const double x2 = x * x;
  const double series =
      x2 * polynomial(x2, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                      -1.0 / 1307674368000, 1.0 / 355687428096000, -1.0 / 121645100408832000);
  const double sine = x + x * series;
  return sine > 1.0 ? 1.0 : sine < -1.0 ? -1.0 : sine;
}

/// 1 / (1 + e^-x), less than 2 ulp off, without overflow: e^-|x| stays in [0, 1].
inline double sigmoid(double x) {
  const double e = portable_exp(x < 0.0 ? x : -x);
  const double sum = 1.0 + e;
  const double lost = e - (sum - 1.0);  // what rounding took from the sum, exactly
  const double quotient = (x < 0.0 ? e : 1.0) / sum;
  return quotient - quotient * lost * (x < 0.0 ? 1.0 - quotient : quotient);  // the last factor is near 1 / sum
}

}  // namespace podere
