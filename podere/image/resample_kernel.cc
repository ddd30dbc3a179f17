#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/image/resample_kernel.cc"
#include "podere/image/resample_kernel.h"

#include <algorithm>
#include <type_traits>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::image::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::uint8_t RoundWeighted(std::int32_t sum) {
  const std::int32_t value = (sum + (1 << (kWeightBits - 1))) >> kWeightBits;
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

#if HWY_TARGET != HWY_SCALAR
/// The sums of the lanes of four vectors of four.
template <class D, class V>
V SumsOfFour(D d, V a, V b, V c, V e) {
  const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  return hn::Add(hn::ConcatLowerLower(d, ce, ab), hn::ConcatUpperUpper(d, ce, ab));
}
#endif

/// A weight w = high * 2^15 + low, so sum w p = 2^15 sum high p + sum low p: products of 16 bits, added in pairs. Whole
/// numbers modulo 2^32, in whatever order. Four places at once, as adding up the lanes of one takes as long as its
/// products. `n_weights` is a number, or a type that has it, for which the compiler needs no loop.
template <typename Count>
void ResampleRowBy(Count n_weights, const std::uint8_t* HWY_RESTRICT row, const Weights& weights,
                   std::uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::int16_t, Weights::kBlock> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const std::uint32_t* const firsts = weights.first.data();
  const std::int16_t* const lows = weights.low.data();
  const std::int16_t* const highs = weights.high.data();
  const auto add_up = [=](std::size_t x) HWY_ATTR {
    const std::uint8_t* const in = row + firsts[x];
    const std::int16_t* const low = lows + x * n_weights;
    const std::int16_t* const high = highs + x * n_weights;
    auto low0 = hn::Zero(d32), low1 = hn::Zero(d32), high0 = hn::Zero(d32), high1 = hn::Zero(d32);
    for (std::size_t k = 0; k < n_weights; k += hn::Lanes(d16)) {
      const auto values = hn::PromoteTo(d16, hn::LoadU(d8, in + k));
      low0 = hn::ReorderWidenMulAccumulate(d32, values, hn::LoadU(d16, low + k), low0, low1);
      high0 = hn::ReorderWidenMulAccumulate(d32, values, hn::LoadU(d16, high + k), high0, high1);
    }
    return hn::Add(hn::ShiftLeft<Weights::kLowBits>(hn::Add(high0, high1)), hn::Add(low0, low1));
  };
  const std::size_t n = weights.first.size();
  std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Rebind<std::uint8_t, decltype(d32)> d8_of_four;
  const auto half = hn::Set(d32, 1 << (kWeightBits - 1));
  for (; x + 4 <= n; x += 4) {
    const auto sums = SumsOfFour(d32, add_up(x), add_up(x + 1), add_up(x + 2), add_up(x + 3));
    hn::StoreU(hn::DemoteTo(d8_of_four, hn::ShiftRight<kWeightBits>(hn::Add(sums, half))), d8_of_four, out + x);
  }
#endif
  for (; x < n; ++x) out[x] = RoundWeighted(hn::GetLane(hn::SumOfLanes(d32, add_up(x))));
}

void ResampleRow(const std::uint8_t* HWY_RESTRICT row, const Weights& weights, std::uint8_t* HWY_RESTRICT out) {
  if (weights.n_blocks == 1) {
    ResampleRowBy(std::integral_constant<std::size_t, Weights::kBlock>(), row, weights, out);
  } else {
    ResampleRowBy(weights.n_weights(), row, weights, out);
  }
}

void CombineRows(const std::uint8_t* HWY_RESTRICT rows, std::size_t stride, const std::int32_t* HWY_RESTRICT weights,
                 std::size_t n_weights, std::size_t n, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::int32_t> d32;
  const hn::Rebind<std::uint8_t, decltype(d32)> d8;
  const std::size_t n_lanes = hn::Lanes(d32);
  const auto half = hn::Set(d32, 1 << (kWeightBits - 1));
  std::size_t i = 0;
  for (; i + 2 * n_lanes <= n; i += 2 * n_lanes) {
    auto sum0 = half, sum1 = half;
    for (std::size_t k = 0; k < n_weights; ++k) {
      const std::uint8_t* const in = rows + k * stride + i;
      const auto weight = hn::Set(d32, weights[k]);
      sum0 = hn::Add(sum0, hn::Mul(weight, hn::PromoteTo(d32, hn::LoadU(d8, in))));
      sum1 = hn::Add(sum1, hn::Mul(weight, hn::PromoteTo(d32, hn::LoadU(d8, in + n_lanes))));
    }
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum0)), d8, out + i);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum1)), d8, out + i + n_lanes);
  }
  for (; i < n; ++i) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < n_weights; ++k) sum += weights[k] * rows[k * stride + i];
    out[i] = RoundWeighted(sum);
  }
}

void SplitChannels(const std::uint8_t* HWY_RESTRICT rgb, std::size_t n, std::uint8_t* HWY_RESTRICT red,
                   std::uint8_t* HWY_RESTRICT green, std::uint8_t* HWY_RESTRICT blue) {
  const hn::ScalableTag<std::uint8_t> d8;
  const std::size_t n_lanes = hn::Lanes(d8);
  std::size_t i = 0;
  for (; i + n_lanes <= n; i += n_lanes) {
    auto r = hn::Undefined(d8), g = hn::Undefined(d8), b = hn::Undefined(d8);
    hn::LoadInterleaved3(d8, rgb + 3 * i, r, g, b);
    hn::StoreU(r, d8, red + i);
    hn::StoreU(g, d8, green + i);
    hn::StoreU(b, d8, blue + i);
  }
  for (; i < n; ++i) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
  }
}

void JoinChannels(const std::uint8_t* HWY_RESTRICT red, const std::uint8_t* HWY_RESTRICT green,
                  const std::uint8_t* HWY_RESTRICT blue, std::size_t n, std::uint8_t* HWY_RESTRICT rgb) {
  const hn::ScalableTag<std::uint8_t> d8;
  const std::size_t n_lanes = hn::Lanes(d8);
  std::size_t i = 0;
  for (; i + n_lanes <= n; i += n_lanes) {
    hn::StoreInterleaved3(hn::LoadU(d8, red + i), hn::LoadU(d8, green + i), hn::LoadU(d8, blue + i), d8, rgb + 3 * i);
  }
  for (; i < n; ++i) {
    rgb[3 * i] = red[i];
    rgb[3 * i + 1] = green[i];
    rgb[3 * i + 2] = blue[i];
  }
}

}  // namespace podere::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::image {

HWY_EXPORT(ResampleRow);
HWY_EXPORT(CombineRows);
HWY_EXPORT(SplitChannels);
HWY_EXPORT(JoinChannels);

void resample_row(const std::uint8_t* row, const Weights& weights, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleRow)(row, weights, out);
}

void combine_rows(const std::uint8_t* rows, std::size_t stride, const std::int32_t* weights, std::size_t n_weights,
                  std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CombineRows)(rows, stride, weights, n_weights, n, out);
}

void split_channels(const std::uint8_t* rgb, std::size_t n, std::uint8_t* red, std::uint8_t* green,
                    std::uint8_t* blue) {
  HWY_DYNAMIC_DISPATCH(SplitChannels)(rgb, n, red, green, blue);
}

void join_channels(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue, std::size_t n,
                   std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(JoinChannels)(red, green, blue, n, rgb);
}

}  // namespace podere::image
#endif
