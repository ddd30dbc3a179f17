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

void Activate(Activation activation, const Units& units) {
  switch (activation) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      // In this order NaN stays NaN.
      Replace(units, [](auto d, auto x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); });
      break;
    case Activation::kSigmoid:
      Replace(units, [](auto d, auto x) {
        const auto one = hn::Set(d, 1.0F);
        const auto most = hn::Set(d, 88.0F);  // beyond it e^x is beyond float32
        const auto minus_x = hn::Neg(x);
        const auto e = hn::Exp(d, hn::IfThenElse(hn::Gt(minus_x, most), most, minus_x));
        return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(one, hn::Add(one, e)));  // Exp has 0 for NaN
      });
      break;
    case Activation::kTanh:
      Replace(units, [](auto d, auto x) { return hn::Tanh(d, x); });
      break;
  }
  for (std::size_t i = 0; i < units.n_rows; ++i) {
    float* const row = units.values + i * units.stride;
    row[units.n_units] = 1;
    for (std::size_t j = units.n_units + 1; j < units.stride; ++j) row[j] = 0;
  }
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
