// Functions of vectors for kernels, with the same bits on every machine: fixed polynomials of fused multiply-adds.
// Include after hwy/foreach_target.h.
#if defined(PODERE_BASE_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PODERE_BASE_VECTOR_MATH_INL_H_
#undef PODERE_BASE_VECTOR_MATH_INL_H_
#else
#define PODERE_BASE_VECTOR_MATH_INL_H_
#endif

#include <cmath>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// a * b + c, rounded once also where the instruction set has no such instruction (and this is slow).
template <typename Vector>
HWY_INLINE Vector FusedMultiplyAdd(Vector a, Vector b, Vector c) {
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  const hn::DFromV<Vector> d;
  HWY_ALIGN float x[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float y[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float z[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#else
  return hn::MulAdd(a, b, c);
#endif
}

/// e^x within 1e-7 of itself for x in [-86, 86], and e^-86 or e^86 beyond. e^r of what x is beyond a whole power q of
/// two, |r| <= ln 2 / 2, is a polynomial (relative error 2e-8, by least squares reweighted toward equal errors); q goes
/// straight into its exponent.
template <typename D, typename Vector>
HWY_INLINE Vector BoundedExp(D d, Vector x) {
  const hn::RebindToSigned<D> integers;
  const auto t = hn::Max(hn::Min(x, hn::Set(d, 86.0F)), hn::Set(d, -86.0F));
  // Adding 1.5 * 2^23 rounds to a whole number, which then is in the lowest bits.
  const auto rounder = hn::Set(d, 0x1.8p23F);
  const auto shifted = FusedMultiplyAdd(t, hn::Set(d, 0x1.715476p0F), rounder);
  const auto q = hn::Sub(shifted, rounder);
  // t - q ln 2, rounded once.
  const auto r = FusedMultiplyAdd(q, hn::Set(d, -0x1.62e43p-1F), t);
  auto power = FusedMultiplyAdd(r, hn::Set(d, 1.3843559e-3F), hn::Set(d, 8.3742356e-3F));
  power = FusedMultiplyAdd(r, power, hn::Set(d, 4.1668009e-2F));
  power = FusedMultiplyAdd(r, power, hn::Set(d, 0.1666643F));
  power = FusedMultiplyAdd(r, power, hn::Set(d, 0.49999994F));
  power = FusedMultiplyAdd(r, power, hn::Set(d, 1.0F));
  power = FusedMultiplyAdd(r, power, hn::Set(d, 1.0F));
  return hn::BitCast(d, hn::Add(hn::BitCast(integers, power), hn::ShiftLeft<23>(hn::BitCast(integers, shifted))));
}

/// 1 / (1 + e^-x), to about 1e-7; NaN stays NaN. Beyond 86 it no longer changes.
template <typename D, typename Vector>
HWY_INLINE Vector Sigmoid(D d, Vector x) {
  const auto one = hn::Set(d, 1.0F);
  const auto y = hn::Div(one, hn::Add(one, BoundedExp(d, hn::Neg(x))));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

}  // namespace podere::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
