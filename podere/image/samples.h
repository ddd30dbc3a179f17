// Samples of any size as 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "podere/image/decode.h"

namespace podere::image {

enum class SampleKind { kUnsigned, kSigned, kFloat };

struct SampleType {
  SampleKind kind = SampleKind::kUnsigned;
  unsigned n_bits = 8;

  /// Whether unpack_samples knows it. Whole numbers of 17 to 31 bits are read in another byte order by each program,
  /// so that what a file of them shows is not known.
  bool is_known() const {
    if (kind == SampleKind::kFloat) return n_bits == 16 || n_bits == 32 || n_bits == 64;
    return (n_bits >= 1 && n_bits <= 16) || n_bits == 32;
  }
  /// Of whole numbers, without the sign.
  unsigned n_value_bits() const { return kind == SampleKind::kSigned ? n_bits - 1 : n_bits; }
  /// Whether only a part of a value is shown.
  bool is_whole_above_8_bits() const { return kind != SampleKind::kFloat && n_value_bits() > 8; }
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

/// What becomes black and white.
struct SampleScale {
  SampleRange range;    ///< of real numbers
  unsigned n_bits = 0;  ///< of whole numbers above 8 bits: 2^n_bits and more is white; 8 to 32
};

/// `n` samples of a row, side by side from bit 0 on, most significant bit first where they are no whole bytes and in
/// this machine's byte order where they are 16, 32 or 64 bits; each as 8 bits:
///
///   less than 8 bits   v * 255 / (2^bits - 1), rounded
///   more               the upper 8 of scale.n_bits, at most 255
///   signed             negative numbers are 0, the others as if there was no bit for the sign
///   float              (v - least) / (largest - least) * 255, rounded; NaN is 0
///
/// Returns the bits that the whole numbers above 8 bits have among them: all but those that are 0 in each of them.
std::uint32_t unpack_samples(const std::uint8_t* row, std::size_t n, SampleType type, const SampleScale& scale,
                             std::uint8_t* out);

/// SampleScale::n_bits for a file of such samples: as the user says it, or all.
unsigned shown_bits(SampleType type, const DecodeOptions& options);

/// Throws PictureFault where the user does not say how many bits are shown, and the values, of which unpack_samples
/// returned `bits`, have so few that the picture would be nearly black: those of cameras with 12 bits in files of 16.
void check_shown_bits(const std::string& name, SampleType type, std::uint32_t bits, const DecodeOptions& options);

/// Widens `range` by the finite numbers of a row of floats.
void widen_range(const std::uint8_t* row, std::size_t n, SampleType type, SampleRange& range);

}  // namespace podere::image
