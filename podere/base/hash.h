// Counter-based random numbers: a value depends on its key alone, never on who asks or in which order.
#pragma once

#include <cstdint>

namespace podere {

/// A bijection of 64-bit words in which every input bit flips every output bit with probability near 1/2.
/// Source: D. Stafford, "Better Bit Mixing", variant 13; the finalizer of SplitMix64
/// (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15ULL;

/// Hash of (seed, stream, counter). `stream` keeps uses apart (row sampling, rounding, ...).
constexpr std::uint64_t hash64(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  const std::uint64_t key = mix64(mix64(seed + kGoldenGamma) + (stream + 1) * kGoldenGamma);
  return mix64(key + (counter + 1) * kGoldenGamma);
}

/// Uniform in [0, 1) from the upper 53 bits.
constexpr double uniform01(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

/// A sequence of random numbers that belongs to one key, such as (seed, event). SplitMix64.
class RandomSequence {
 public:
  constexpr RandomSequence(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter)
      : state_(hash64(seed, stream, counter)) {}

  constexpr std::uint64_t next() { return mix64(state_ += kGoldenGamma); }

  /// Uniform in [0, 1).
  constexpr double uniform() { return uniform01(next()); }

 private:
  std::uint64_t state_;
};

}  // namespace podere
