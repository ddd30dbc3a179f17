#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/sum_kernel.cc"
#include "podere/neural/sum_kernel.h"

#include <bit>
#include <cmath>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

/// Adding 1.5 * 2^52 rounds to a whole number, which then is in the lowest bits. The scale is a power of two: the
/// product is exact.
std::uint32_t AddScaled(const float* values, std::size_t n, double scale, std::int64_t* sums) {
  constexpr double kRound = 0x1.8p52;
  constexpr auto kRoundBits = std::bit_cast<std::uint64_t>(kRound);
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU;
    largest = largest > size ? largest : size;
    // Unsigned: where values are too large sums may wrap.
    sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[i]) - kRoundBits +
                                        std::bit_cast<std::uint64_t>(values[i] * scale + kRound));
  }
  return largest;
}

}  // namespace podere::neural::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::neural {

HWY_EXPORT(AddScaled);

std::uint32_t add_scaled(std::span<const float> values, int exponent, std::span<std::int64_t> sums) {
  return HWY_DYNAMIC_DISPATCH(AddScaled)(values.data(), values.size(), std::ldexp(1.0, exponent), sums.data());
}

}  // namespace podere::neural
#endif
