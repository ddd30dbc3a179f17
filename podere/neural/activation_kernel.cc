#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/activation_kernel.cc"
#include "podere/neural/activation_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h, which includes this file again.
#include "hwy/contrib/math/math-inl.h"
#include "podere/base/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kLanes>;

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
      Replace(units, [](auto d, auto x) { return podere::HWY_NAMESPACE::Sigmoid(d, x); });
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
