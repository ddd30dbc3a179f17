// Sums of doubles that do not depend on order, on threads or on executors.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace podere {

/// The exact sum of any doubles, subnormal ones included, as a fixed-point number wide enough for all of them.
///
///   word     0         1               65        66            67    68    69
///          | 2^-1074 | 2^-1042 |  ... | 2^1006 | 2^1038 ... | +inf  -inf  NaN |
///
/// Word i below 67 counts units of 2^(32 i - 1074); it holds 64 bits, so that its carry may wait for 2^11 additions.
/// The last three count the values that are not finite. Words are integers: all ranks' words(), summed element by
/// element, are the words of the sum over up to 2^20 ranks (see podere/comm/exact_reduce.h). Up to 2^62 values.
/// Not thread-safe: give every thread its own and add them up.
/// Source: R. M. Neal, "Fast exact summation using small and large superaccumulators", arXiv 1505.05571, section 2.
class ExactSum {
 public:
  static constexpr std::size_t kDigits = 67;
  static constexpr std::size_t kWords = kDigits + 3;

  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = bits >> 52 & 0x7ff;
    const std::uint64_t fraction = bits & 0xfffffffffffffULL;
    if (exponent == 0x7ff) {
      ++words_[kDigits + (fraction != 0 ? 2 : bits >> 63)];
      return;
    }
    // |x| = mantissa * 2^(position - 1074); subnormal numbers have no leading one and share the lowest position.
    const std::uint64_t is_normal = exponent != 0;
    const std::uint64_t mantissa = fraction | is_normal << 52;
    const std::uint64_t position = exponent - is_normal;
    const std::uint64_t shift = position % 32;
    const auto negative = -static_cast<std::int64_t>(bits >> 63);                   // all ones or all zeros
    const auto low = static_cast<std::int64_t>(mantissa << shift & 0xffffffffULL);  // below 2^32
    const auto high = static_cast<std::int64_t>(mantissa >> (32 - shift));          // below 2^52
    words_[position / 32] += (low ^ negative) - negative;
    words_[position / 32 + 1] += (high ^ negative) - negative;
    if (++n_waiting_ == kMaxWaiting) carry();
  }

  void add(ExactSum other) {
    other.carry();
    carry();
    for (std::size_t i = 0; i < kWords; ++i) words_[i] += other.words_[i];
    carry();
  }

  /// The double nearest to the sum, ties to even; 0 (never -0) for no values; infinite where the sum is beyond the
  /// largest double or infinities of one sign were added; NaN where a NaN or infinities of both signs were.
  double value() const;

  /// The words, with carries done: digits below the last lie in [0, 2^32), the last has the sign.
  /// The same for every order of additions.
  std::span<const std::int64_t, kWords> words() {
    carry();
    return words_;
  }
  /// Becomes the sum that `words` stand for: words() of one sum, or of up to 2^20 sums, added element by element.
  void set_words(std::span<const std::int64_t, kWords> words);

 private:
  static constexpr int kMaxWaiting = 2047;  // (2^11 - 1) * 2^52 + 2^32 < 2^63

  void carry();

  std::array<std::int64_t, kWords> words_{};
  int n_waiting_ = 0;  // additions since the last carry()
};

}  // namespace podere
