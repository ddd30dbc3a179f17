// Activations of vectors, for the kernels. Include after hwy/foreach_target.h.
#if defined(PODERE_GRAPH_VECTOR_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PODERE_GRAPH_VECTOR_FUNCTIONS_INL_H_
#undef PODERE_GRAPH_VECTOR_FUNCTIONS_INL_H_
#else
#define PODERE_GRAPH_VECTOR_FUNCTIONS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "podere/base/portable_math.h"
#include "podere/base/vector_math-inl.h"
#include "podere/graph/activation.h"

HWY_BEFORE_NAMESPACE();
namespace podere::graph::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace vm = podere::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

HWY_INLINE Vector Constant(float value) { return hn::Set(Floats(), value); }

/// The first n < Lanes values of v, where a whole vector would write over what follows.
HWY_INLINE void StorePart(Vector v, float* to, std::size_t n) {
  HWY_ALIGN float values[16];
  hn::Store(v, Floats(), values);
  std::memcpy(to, values, n * sizeof(float));
}

/// Between low and high; NaN stays NaN in this order.
HWY_INLINE Vector Clip(Vector x, Vector low, Vector high) { return hn::Min(high, hn::Max(low, x)); }

/// 1 - 2 / (e^2x + 1), to about 1e-7; for small x, where this would lose digits, x - x^3/3 + 2x^5/15 - 17x^7/315.
HWY_INLINE Vector Tanh(Vector x) {
  const Floats d;
  const auto one = Constant(1.0F);
  const auto e = vm::BoundedExp(d, hn::Add(x, x));
  const auto large = hn::Sub(one, hn::Div(Constant(2.0F), hn::Add(e, one)));
  const auto x2 = hn::Mul(x, x);
  auto series = vm::FusedMultiplyAdd(x2, Constant(62.0F / 2835), Constant(-17.0F / 315));
  series = vm::FusedMultiplyAdd(x2, series, Constant(2.0F / 15));
  series = vm::FusedMultiplyAdd(x2, series, Constant(-1.0F / 3));
  series = vm::FusedMultiplyAdd(hn::Mul(x, x2), series, x);
  const auto y = hn::IfThenElse(hn::Lt(hn::Abs(x), Constant(0.25F)), series, large);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// erf to about 3e-7: a rational function of x^2 times x, on [-4, 4] (as Eigen has it).
HWY_INLINE Vector Erf(Vector x) {
  const auto t = Clip(x, Constant(-4.0F), Constant(4.0F));
  const auto t2 = hn::Mul(t, t);
  auto p = vm::FusedMultiplyAdd(t2, Constant(-2.72614225801306e-10F), Constant(2.77068142495902e-08F));
  p = vm::FusedMultiplyAdd(t2, p, Constant(-2.10102402082508e-06F));
  p = vm::FusedMultiplyAdd(t2, p, Constant(-5.69250639462346e-05F));
  p = vm::FusedMultiplyAdd(t2, p, Constant(-7.34990630326855e-04F));
  p = vm::FusedMultiplyAdd(t2, p, Constant(-2.95459980854025e-03F));
  p = vm::FusedMultiplyAdd(t2, p, Constant(-1.60960333262415e-02F));
  auto q = vm::FusedMultiplyAdd(t2, Constant(-1.45660718464996e-05F), Constant(-2.13374055278905e-04F));
  q = vm::FusedMultiplyAdd(t2, q, Constant(-1.68282697438203e-03F));
  q = vm::FusedMultiplyAdd(t2, q, Constant(-7.37332916720468e-03F));
  q = vm::FusedMultiplyAdd(t2, q, Constant(-1.42647390514189e-02F));
  return hn::Div(hn::Mul(t, p), q);
}

/// `function` of each lane by itself, in double precision.
template <typename F>
HWY_INLINE Vector ByLane(Vector x, const F& function) {
  HWY_ALIGN float values[16];
  hn::Store(x, Floats(), values);
  for (std::size_t i = 0; i < hn::Lanes(Floats()); ++i) {
    values[i] = static_cast<float>(function(static_cast<double>(values[i])));
  }
  return hn::Load(Floats(), values);
}

HWY_INLINE Vector Apply(Activation activation, Vector x) {
  const Floats d;
  const auto zero = hn::Zero(d);
  const auto half = Constant(0.5F);
  const auto one = Constant(1.0F);
  const auto a = Constant(activation.a);
  const auto b = Constant(activation.b);
  switch (activation.function) {
    case Function::kClip:
      return Clip(x, a, b);
    case Function::kLeakyRelu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(x, a), x);
    case Function::kSigmoid:
      return vm::Sigmoid(d, x);
    case Function::kSilu:
      return hn::Mul(x, vm::Sigmoid(d, hn::Mul(a, x)));
    case Function::kHardSigmoid:
      return Clip(vm::FusedMultiplyAdd(x, a, b), zero, one);
    case Function::kHardSwish:
      return hn::Mul(x, Clip(vm::FusedMultiplyAdd(x, Constant(1.0F / 6), half), zero, one));
    case Function::kTanh:
      return Tanh(x);
    case Function::kElu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(a, hn::Sub(vm::BoundedExp(d, x), one)), x);
    case Function::kErf:
      return Erf(x);
    case Function::kGelu: {
      const auto half_x = hn::Mul(x, half);
      return vm::FusedMultiplyAdd(half_x, Erf(hn::Mul(x, Constant(0.70710678F))), half_x);
    }
    case Function::kGeluTanh: {
      const auto half_x = hn::Mul(x, half);
      const auto inner = vm::FusedMultiplyAdd(hn::Mul(x, Constant(0.044715F)), hn::Mul(x, x), x);
      return vm::FusedMultiplyAdd(half_x, Tanh(hn::Mul(inner, Constant(0.79788456F))), half_x);
    }
    case Function::kMish: {  // tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2)
      const auto e = vm::BoundedExp(d, hn::Min(x, Constant(20.0F)));
      const auto n = hn::Mul(e, hn::Add(e, Constant(2.0F)));
      return hn::Mul(x, hn::Div(n, hn::Add(n, Constant(2.0F))));
    }
    case Function::kExp:
      return ByLane(x, [](double value) { return portable_exp(value); });
    case Function::kLog:
      return ByLane(x, [](double value) { return portable_log(value); });
    case Function::kSqrt:
      return hn::Sqrt(x);
    case Function::kAbs:
      return hn::Abs(x);
    case Function::kNeg:
      return hn::Neg(x);
    case Function::kReciprocal:
      return hn::Div(one, x);
    case Function::kFloor:
      return hn::Floor(x);
    case Function::kCeil:
      return hn::Ceil(x);
  }
  return x;
}

/// The switch over functions once for a whole run of values. `from` may be `to`. Reads up to a vector beyond n.
HWY_INLINE void ApplyRun(Activation activation, const float* from, float* to, std::size_t n) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto loop = [&](const auto& function) {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(function(hn::LoadU(d, from + i)), d, to + i);
    if (i < n) StorePart(function(hn::LoadU(d, from + i)), to + i, n - i);
  };
  if (activation.function == Function::kClip) {
    const auto a = Constant(activation.a);
    const auto b = Constant(activation.b);
    loop([&](Vector x) { return Clip(x, a, b); });
  } else if (activation.function == Function::kSilu) {
    const auto a = Constant(activation.a);
    loop([&](Vector x) { return hn::Mul(x, vm::Sigmoid(d, hn::Mul(a, x))); });
  } else if (activation.function == Function::kHardSwish) {
    loop([&](Vector x) { return Apply({Function::kHardSwish, 0, 0}, x); });
  } else if (activation.function == Function::kGelu) {
    loop([&](Vector x) { return Apply({Function::kGelu, 0, 0}, x); });
  } else {
    loop([&](Vector x) { return Apply(activation, x); });
  }
}

}  // namespace podere::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
