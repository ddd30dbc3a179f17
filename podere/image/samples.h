// Samples of any size as 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace podere::image {

enum class SampleKind { kUnsigned, kSigned, kFloat };

struct SampleType {
  SampleKind kind = SampleKind::kUnsigned;
  unsigned n_bits = 8;

  /// Whether unpack_samples knows it.
  bool is_known() const {
    if (kind == SampleKind::kFloat) return n_bits == 16 || n_bits == 32 || n_bits == 64;
    return n_bits >= 1 && n_bits <= 32;
  }
};

/// The least and the largest of real numbers.
struct SampleRange {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  /// What becomes black and white: 0 and 1, or the range where numbers are beyond these. Nothing if there were none.
  std::optional<SampleRange> shown() const {
    if (!(least <= largest)) return std::nullopt;
    return least >= 0 && largest <= 1 ? SampleRange{0, 1} : *this;
  }
};

/// `n` samples of a row, side by side from bit 0 on, most significant bit first where they are no whole bytes and in
/// this machine's byte order where they are 16, 24, 32 or 64 bits; each as 8 bits:
///
///   less than 8 bits   v * 255 / (2^bits - 1), rounded
///   more               the upper 8
///   signed             negative numbers are 0, the others as if there was no bit for the sign
///   float              (v - least) / (largest - least) * 255, rounded; NaN is 0
void unpack_samples(const std::uint8_t* row, std::size_t n, SampleType type, const SampleRange& range,
                    std::uint8_t* out);

/// Widens `range` by the finite numbers of a row of floats.
void widen_range(const std::uint8_t* row, std::size_t n, SampleType type, SampleRange& range);

}  // namespace podere::image
