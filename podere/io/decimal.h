// Decimal text to the nearest float32.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace podere::io {

/// The nearest float32 (ties to even) of the decimal number that is all of `text`: digits with an optional sign, point
/// and exponent, or inf, infinity, nan in any case. Beyond float32: an infinity. False if `text` is anything else.
bool parse_float(std::string_view text, float& value);

/// The quick part of parse_float: reads a decimal number at `p`, as far as it goes. Returns its end, or nullptr where
/// this way cannot prove its answer exact; then parse_float must decide. At least 8 bytes must be readable behind the
/// first byte that belongs to no number.
const char* parse_float_quickly(const char* p, float& value);

namespace detail {

/// 10^-37 ... 10^18, each the nearest double.
inline constexpr int kLowestPower = -37;
inline constexpr std::array kPowersOfTen = {
    1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24,
    1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10,
    1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,
    1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline std::uint64_t load8(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

/// Whether all eight bytes are '0' ... '9': high halves of c and of c + 6 are both 3.
inline bool are_digits(std::uint64_t bytes) {
  constexpr std::uint64_t kHighHalves = 0xf0f0f0f0f0f0f0f0;
  return ((bytes & kHighHalves) | (((bytes + 0x0606060606060606) & kHighHalves) >> 4)) == 0x3333333333333333;
}

/// The number that eight digits spell; the first digit is the lowest byte. Neighbors are joined three times:
/// digits to pairs, pairs to fours, fours to eight.
inline std::uint64_t eight_digits(std::uint64_t bytes) {
  bytes -= 0x3030303030303030;
  bytes = bytes * 10 + (bytes >> 8);
  const std::uint64_t fours = ((bytes & 0x000000ff000000ff) * (100 + (1000000ULL << 32)) +
                               ((bytes >> 16) & 0x000000ff000000ff) * (1 + (10000ULL << 32))) >>
                              32;
  return fours & 0xffffffff;
}

}  // namespace detail

// w digits and a power of ten give d = fl(fl(w) * fl(10^q)), which is within 3 * 2^-53 of the true value, relatively:
// less than 4 units in the last place of a double. A float32 is a double whose lower 29 bits are 0, and a tie between
// two float32 has 2^28 there: where d is further than 8 units from a tie, the true value lies on the same side of it,
// and so rounding d is rounding the true value. With q in [-37, 18], w < 10^19 keeps d a normal float32 or 0.
inline const char* parse_float_quickly(const char* p, float& value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';

  const char* const digits = p;
  std::uint64_t w = 0;
  for (; detail::is_digit(*p); ++p) w = w * 10 + static_cast<std::uint64_t>(*p - '0');
  std::int64_t n_digits = p - digits;
  std::int64_t power = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    for (std::uint64_t next = detail::load8(p); detail::are_digits(next); next = detail::load8(p)) {
      w = w * 100000000 + detail::eight_digits(next);
      p += 8;
    }
    for (; detail::is_digit(*p); ++p) w = w * 10 + static_cast<std::uint64_t>(*p - '0');
    power = fraction - p;
    n_digits -= power;
  }
  if (n_digits == 0 || n_digits > 19) return nullptr;

  if (*p == 'e' || *p == 'E') {
    const bool shrinks = *++p == '-';
    p += shrinks || *p == '+';
    const char* const exponent_digits = p;
    std::uint64_t exponent = 0;  // wraps where there are too many digits
    for (; detail::is_digit(*p); ++p) exponent = exponent * 10 + static_cast<std::uint64_t>(*p - '0');
    if (p == exponent_digits || p - exponent_digits > 3) return nullptr;
    power += shrinks ? -static_cast<std::int64_t>(exponent) : static_cast<std::int64_t>(exponent);
  }
  const auto index = static_cast<std::uint64_t>(power - detail::kLowestPower);
  if (index >= detail::kPowersOfTen.size()) return nullptr;

  const double d = static_cast<double>(w) * detail::kPowersOfTen[index];
  constexpr std::uint64_t kTie = 1ULL << 28;
  const std::uint64_t low_bits = std::bit_cast<std::uint64_t>(d) & (2 * kTie - 1);
  if (low_bits - (kTie - 8) <= 16) return nullptr;
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(d)) |
                               static_cast<std::uint32_t>(negative) << 31);
  return p;
}

}  // namespace podere::io
