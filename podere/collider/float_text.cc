#include "podere/collider/float_text.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace podere::collider {
namespace {

using Wide = unsigned __int128;

constexpr int kMostFives = 44;  // 24 bits times 5^44 still fit 128 bits

constexpr auto kPowersOfFive = [] {
  std::array<Wide, kMostFives + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 5;
  return powers;
}();

constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

char* write_pair(char* out, std::uint64_t below_100) {
  std::memcpy(out, &kDigitPairs[2 * below_100], 2);
  return out + 2;
}

/// m 2^e 10^p to the nearest integer, ties to even: m 5^p shifted by e + p bits. Needs 0 <= p <= kMostFives, and a
/// result below 2^64 or, if it is not, one that does not wrap (as p is at most one too large).
Wide scaled(std::uint32_t m, int e, int p) {
  const Wide product = m * kPowersOfFive[static_cast<std::size_t>(p)];
  const int shift = e + p;
  if (shift >= 0) return product << shift;
  if (shift < -127) return 0;
  const Wide whole = product >> -shift;
  const Wide rest = product - (whole << -shift);
  const Wide half = Wide{1} << (-shift - 1);
  return whole + (rest > half || (rest == half && (whole & 1)));
}

}  // namespace

char* write_float(char* out, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto exponent = static_cast<int>(bits >> 23 & 0xff);
  // Zero, subnormal, far from 1, infinite: seldom, and left to the C library.
  if (exponent < 127 - 83 || exponent > 127 + 58) return out + std::snprintf(out, kFloatTextBytes + 1, "%.18e", value);
  const std::uint32_t m = (bits & 0x7fffff) | 0x800000;
  // value = m 2^(exponent - 150). The decimal exponent is that of 2^(exponent - 127) or one more.
  int decimal = ((exponent - 127) * 1233) >> 12;
  constexpr std::uint64_t kTenTo19 = 10'000'000'000'000'000'000ULL;
  Wide digits = scaled(m, exponent - 150, 18 - decimal);
  if (digits >= kTenTo19) digits = scaled(m, exponent - 150, 18 - ++decimal);
  if (bits >> 31) *out++ = '-';
  auto number = static_cast<std::uint64_t>(digits);
  constexpr std::uint64_t kTenTo18 = kTenTo19 / 10;
  *out++ = static_cast<char>('0' + number / kTenTo18);
  *out++ = '.';
  number %= kTenTo18;
  for (std::uint64_t nine : {number / 1'000'000'000, number % 1'000'000'000}) {
    *out++ = static_cast<char>('0' + nine / 100'000'000);
    nine %= 100'000'000;
    const std::uint64_t high = nine / 10'000;
    const std::uint64_t low = nine % 10'000;
    for (const std::uint64_t pair : {high / 100, high % 100, low / 100, low % 100}) out = write_pair(out, pair);
  }
  *out++ = 'e';
  *out++ = decimal < 0 ? '-' : '+';
  return write_pair(out, static_cast<std::uint64_t>(decimal < 0 ? -decimal : decimal));
}

}  // namespace podere::collider
