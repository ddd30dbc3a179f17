#include "podere/image/samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace podere::image {
namespace {

template <typename T>
T load_sample(const std::uint8_t* row, std::size_t i) {
  T value;
  std::memcpy(&value, row + i * sizeof(T), sizeof(T));
  return value;
}

/// IEEE 754 binary16.
double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(0x400 + fraction, exponent - 25));
}

double load_real(const std::uint8_t* row, std::size_t i, unsigned n_bits) {
  if (n_bits == 16) return half_to_double(load_sample<std::uint16_t>(row, i));
  return n_bits == 32 ? load_sample<float>(row, i) : load_sample<double>(row, i);
}

/// Of up to 16 bits.
std::uint32_t load_bits(const std::uint8_t* row, std::size_t i, unsigned n_bits) {
  std::uint32_t bits = 0;
  const std::size_t first = i * n_bits, last = first + n_bits - 1;
  for (std::size_t byte = first / 8; byte <= last / 8; ++byte) bits = bits << 8 | row[byte];
  bits >>= 7 - last % 8;
  return bits & ((1U << n_bits) - 1);
}

std::uint32_t load_whole(const std::uint8_t* row, std::size_t i, unsigned n_bits) {
  switch (n_bits) {
    case 16:
      return load_sample<std::uint16_t>(row, i);
    case 32:
      return load_sample<std::uint32_t>(row, i);
    default:
      return load_bits(row, i, n_bits);
  }
}

}  // namespace

std::uint32_t unpack_samples(const std::uint8_t* row, std::size_t n, SampleType type, const SampleScale& scale,
                             std::uint8_t* out) {
  const unsigned n_bits = type.n_bits;
  if (type.is_whole_above_8_bits()) {
    const unsigned shift = scale.n_bits - 8;
    const std::uint32_t sign = type.kind == SampleKind::kSigned ? 1U << (n_bits - 1) : 0;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t value = load_whole(row, i, n_bits);
      if ((value & sign) != 0) value = 0;
      bits |= value;
      out[i] = static_cast<std::uint8_t>(std::min(value >> shift, 255U));
    }
    return bits;
  }
  if (type.kind == SampleKind::kFloat) {
    const SampleRange& range = scale.range;
    const double width = range.largest - range.least;
    for (std::size_t i = 0; i < n; ++i) {
      const double share = width > 0 ? (load_real(row, i, n_bits) - range.least) / width : 0;
      out[i] = share > 0 ? static_cast<std::uint8_t>(std::floor(std::min(share, 1.0) * 255 + 0.5)) : 0;
    }
  } else if (type.kind == SampleKind::kSigned) {
    const unsigned sign = n_bits - 1;  // bits before it
    const std::uint32_t most = (1U << sign) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t value = load_whole(row, i, n_bits);
      const bool is_black = (value >> sign & 1U) != 0 || most == 0;
      out[i] = is_black ? 0 : static_cast<std::uint8_t>((value * 255 + most / 2) / most);
    }
  } else if (n_bits == 8) {
    std::memcpy(out, row, n);
  } else {
    const std::uint32_t most = (1U << n_bits) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = static_cast<std::uint8_t>((load_bits(row, i, n_bits) * 255 + most / 2) / most);
    }
  }
  return 0;
}

unsigned shown_bits(SampleType type, const DecodeOptions& options) {
  return options.n_bits != 0 ? options.n_bits : std::max(type.n_value_bits(), 8U);
}

void check_shown_bits(const std::string& name, SampleType type, std::uint32_t bits, const DecodeOptions& options) {
  constexpr unsigned kMostUnused = 3;  // with more, all values are below a sixteenth of what is white
  const auto n_used = static_cast<unsigned>(std::bit_width(bits));
  if (options.n_bits != 0 || n_used == 0 || n_used + kMostUnused >= shown_bits(type, options)) return;
  throw_fault(FaultKind::kNearlyBlack,
              "{}: has values of {} bits and uses {} of them, so that it is nearly black: say what is white by --bits "
              "(bits= of a location): the bits of the camera, {} or more, or {} where it is to be dark",
              name, type.n_bits, n_used, std::max(n_used, 8U), type.n_value_bits());
}

void widen_range(const std::uint8_t* row, std::size_t n, SampleType type, SampleRange& range) {
  for (std::size_t i = 0; i < n; ++i) {
    const double value = load_real(row, i, type.n_bits);
    if (!std::isfinite(value)) continue;
    range.least = std::min(range.least, value);
    range.largest = std::max(range.largest, value);
  }
}

}  // namespace podere::image
