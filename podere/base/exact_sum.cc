#include "podere/base/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace podere {

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    words_[i + 1] += words_[i] >> 32;  // rounds down, so that what stays is not negative
    words_[i] &= 0xffffffff;
  }
  n_waiting_ = 0;
}

void ExactSum::set_words(std::span<const std::int64_t, kWords> words) {
  std::copy(words.begin(), words.end(), words_.begin());
  carry();
}

double ExactSum::value() const {
  const bool plus_infinity = words_[kDigits] > 0;
  const bool minus_infinity = words_[kDigits + 1] > 0;
  if (words_[kDigits + 2] > 0 || (plus_infinity && minus_infinity)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinity) return std::numeric_limits<double>::infinity();
  if (minus_infinity) return -std::numeric_limits<double>::infinity();

  ExactSum magnitude = *this;
  magnitude.carry();
  const bool is_negative = magnitude.words_[kDigits - 1] < 0;
  if (is_negative) {
    for (std::size_t i = 0; i < kDigits; ++i) magnitude.words_[i] = -magnitude.words_[i];
    magnitude.carry();
  }
  // The last digit may be as long as 63 bits: one more digit keeps all of them below 2^32.
  std::array<std::uint64_t, kDigits + 1> digits;
  std::copy_n(magnitude.words_.begin(), kDigits, digits.begin());
  digits[kDigits] = digits[kDigits - 1] >> 32;
  digits[kDigits - 1] &= 0xffffffff;

  std::size_t top = kDigits;
  while (top > 0 && digits[top] == 0) --top;
  // The 64 bits from the leading one down (all of them, if there are fewer), then whether any one lies below. That
  // last one may replace bit 0: it stands below the bit that decides on rounding to 53.
  const int n_bits = static_cast<int>(32 * top + std::bit_width(digits[top]));
  const int lowest = std::max(0, n_bits - 64);
  const std::size_t first = static_cast<std::size_t>(lowest) / 32;
  const int shift = lowest % 32;
  std::uint64_t leading = digits[first] >> shift;
  for (std::size_t i = first + 1; i <= top; ++i)
    leading |= digits[i] << (32 * (i - first) - static_cast<std::size_t>(shift));
  bool rest = (digits[first] & ((1ULL << shift) - 1)) != 0;
  for (std::size_t i = 0; i < first; ++i) rest = rest || digits[i] != 0;

  // Conversion rounds to nearest, ties to even. Sums below 2^-1021 have at most 53 bits: nothing is rounded twice.
  const double rounded = std::ldexp(static_cast<double>(leading | (rest ? 1 : 0)), lowest - 1074);
  return is_negative ? -rounded : rounded;
}

}  // namespace podere
