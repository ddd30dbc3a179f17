#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/activation_kernel.cc"
#include "podere/neural/activation_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h, which includes this file again.
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kLanes>;

/// 1 / (1 + e^-x), to about 1e-7; NaN stays NaN. e^r of what -x is beyond a whole power q of two, |r| <= ln 2 / 2, is a
/// polynomial (relative error 2e-8, by least squares reweighted toward equal errors); q goes straight into its
/// exponent.
template <typename Vector>
HWY_INLINE Vector Sigmoid(Floats d, Vector x) {
  const hn::RebindToSigned<Floats> integers;
  const auto one = hn::Set(d, 1.0F);
  // Beyond it 1 + e^-x no longer changes, or q leaves the range of exponents.
  const auto t = hn::Max(hn::Min(x, hn::Set(d, 86.0F)), hn::Set(d, -86.0F));
  // Adding 1.5 * 2^23 rounds to a whole number, which then is in the lowest bits.
  const auto rounder = hn::Set(d, 0x1.8p23F);
  const auto shifted = hn::NegMulAdd(t, hn::Set(d, 0x1.715476p0F), rounder);
  const auto q = hn::Sub(shifted, rounder);
  // t + q ln 2, rounded once. Where the rounding of ln 2 itself would show, at large q, the sigmoid is flat.
  const auto minus_r = hn::MulAdd(q, hn::Set(d, 0x1.62e43p-1F), t);
  auto power = hn::NegMulAdd(minus_r, hn::Set(d, 1.3843559e-3F), hn::Set(d, 8.3742356e-3F));
  power = hn::NegMulAdd(minus_r, power, hn::Set(d, 4.1668009e-2F));
  power = hn::NegMulAdd(minus_r, power, hn::Set(d, 0.1666643F));
  power = hn::NegMulAdd(minus_r, power, hn::Set(d, 0.49999994F));
  power = hn::NegMulAdd(minus_r, power, one);
  power = hn::NegMulAdd(minus_r, power, one);
  const auto e =
      hn::BitCast(d, hn::Add(hn::BitCast(integers, power), hn::ShiftLeft<23>(hn::BitCast(integers, shifted))));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(one, hn::Add(one, e)));
}

/// Calls `function(d, place)` for every vector of the rows.
template <typename Function>
HWY_INLINE void ForEachVector(const Units& units, const Function& function) {
  const Floats d;
  const std::size_t n = units.n_rows * units.stride;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) function(d, i);
}

template <typename Function>
HWY_INLINE void Replace(const Units& units, const Function& function) {
  ForEachVector(units, [&](auto d, std::size_t i) {
    hn::Store(function(d, hn::Load(d, units.values + i)), d, units.values + i);
  });
}

/// derivatives = function(activations, derivatives)
template <typename Function>
HWY_INLINE void Scale(const Units& units, float* derivatives, const Function& function) {
  ForEachVector(units, [&](auto d, std::size_t i) {
    hn::Store(function(d, hn::Load(d, units.values + i), hn::Load(d, derivatives + i)), d, derivatives + i);
  });
}

/// 1 behind the units of each row, then 0: all in its last kLanes values.
HWY_INLINE void SetBiases(const Units& units) {
  const Floats d;
  const std::size_t last = units.stride - kLanes;
  HWY_ALIGN float behind[kLanes] = {};
  behind[units.n_units - last] = 1;
  for (std::size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    const std::size_t first = last + lane;
    const auto is_unit = hn::FirstN(d, units.n_units > first ? units.n_units - first : 0);
    const auto other = hn::Load(d, behind + lane);
    for (float* place = units.values + first; place < units.values + units.n_rows * units.stride;
         place += units.stride) {
      hn::Store(hn::IfThenElse(is_unit, hn::Load(d, place), other), d, place);
    }
  }
}

void Activate(Activation activation, const Units& units) {
  switch (activation) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      // In this order NaN stays NaN.
      Replace(units, [](auto d, auto x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); });
      break;
    case Activation::kSigmoid:
      Replace(units, [](auto d, auto x) { return Sigmoid(d, x); });
      break;
    case Activation::kTanh:
      Replace(units, [](auto d, auto x) { return hn::Tanh(d, x); });
      break;
  }
  SetBiases(units);
}

void MultiplyBySlope(Activation activation, const Units& units, float* derivatives) {
  switch (activation) {
    case Activation::kIdentity:
      return;
    case Activation::kRelu:
      return Scale(units, derivatives,
                   [](auto d, auto a, auto g) { return hn::IfThenElseZero(hn::Gt(a, hn::Zero(d)), g); });
    case Activation::kSigmoid:
      return Scale(units, derivatives,
                   [](auto d, auto a, auto g) { return hn::Mul(g, hn::Mul(a, hn::Sub(hn::Set(d, 1.0F), a))); });
    case Activation::kTanh:
      return Scale(units, derivatives,
                   [](auto d, auto a, auto g) { return hn::Mul(g, hn::NegMulAdd(a, a, hn::Set(d, 1.0F))); });
  }
}

}  // namespace podere::neural::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::neural {

HWY_EXPORT(Activate);
HWY_EXPORT(MultiplyBySlope);

void activate(Activation activation, const Units& sums) { HWY_DYNAMIC_DISPATCH(Activate)(activation, sums); }
void multiply_by_slope(Activation activation, const Units& activations, float* derivatives) {
  HWY_DYNAMIC_DISPATCH(MultiplyBySlope)(activation, activations, derivatives);
}

}  // namespace podere::neural
#endif
