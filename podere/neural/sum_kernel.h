// Sums of float32 gradients that are exact, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace podere::neural {

/// Scaled values whose size is at most this are rounded to whole numbers as they are added.
inline constexpr int kScaledBits = 51;

/// sums[i] += values[i] * 2^exponent, rounded to nearest, ties to even. Returns the largest |value|, as its bits: which
/// rise with it, and lie above those of all numbers for infinities and NaN. Where it does not stay at or below
/// 2^(kScaledBits - exponent), sums are of no use. `values` and `sums` are as long; exponent is in -1000 .. 1000.
std::uint32_t add_scaled(std::span<const float> values, int exponent, std::span<std::int64_t> sums);

}  // namespace podere::neural
