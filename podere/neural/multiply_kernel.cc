#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/neural/multiply_kernel.cc"
#include "podere/neural/multiply_kernel.h"

#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/neural/network.h"

HWY_BEFORE_NAMESPACE();
namespace podere::neural::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kLanes>;
using Vector = hn::Vec<Floats>;

// A block of C stays in registers: kMaxRows x kMaxVectors sums, kMaxVectors of B, one of A.
#if HWY_TARGET == HWY_AVX2
constexpr std::size_t kMaxRows = 4;  // of 16 registers
#else
constexpr std::size_t kMaxRows = 8;  // of 32
#endif
constexpr std::size_t kMaxVectors = 3;

template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void MultiplyBlock(const Product& p, std::size_t i, std::size_t j) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const float* a = p.a + i * p.a_row;
  const float* b = p.b + j;
  Vector sums[kRows][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  for (std::size_t s = 0; s < p.k; ++s, a += p.a_step, b += p.b_stride) {
    Vector columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::Load(d, b + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector value = hn::Set(d, a[r * p.a_row]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(value, columns[v], sums[r][v]);
    }
  }
  float* const c = p.c + i * p.c_stride + j;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, c + r * p.c_stride + v * lanes);
  }
}

/// All rows of kVectors columns of vectors.
template <std::size_t kVectors>
HWY_NOINLINE void MultiplyColumns(const Product& p, std::size_t j) {
  std::size_t i = 0;
  for (; i + kMaxRows <= p.m; i += kMaxRows) MultiplyBlock<kMaxRows, kVectors>(p, i, j);
  if constexpr (kMaxRows > 4) {
    if (i + 4 <= p.m) {
      MultiplyBlock<4, kVectors>(p, i, j);
      i += 4;
    }
  }
  if (i + 2 <= p.m) {
    MultiplyBlock<2, kVectors>(p, i, j);
    i += 2;
  }
  if (i < p.m) MultiplyBlock<1, kVectors>(p, i, j);
}

void Multiply(const Product& p) {
  const std::size_t lanes = hn::Lanes(Floats());
  const std::size_t n_vectors = p.n / lanes;
  // As even as can be: four vectors are two and two, not three and one.
  std::size_t v = 0;
  for (std::size_t n_panels = (n_vectors + kMaxVectors - 1) / kMaxVectors; n_panels > 0; --n_panels) {
    const std::size_t n = (n_vectors - v + n_panels - 1) / n_panels;
    if (n == 3) {
      MultiplyColumns<3>(p, v * lanes);
    } else if (n == 2) {
      MultiplyColumns<2>(p, v * lanes);
    } else {
      MultiplyColumns<1>(p, v * lanes);
    }
    v += n;
  }
}

void MultiplyRows(const DotProducts& p) {
  const Floats d;
  const hn::CappedTag<float, 4> few;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN float sums[kLanes];
  HWY_ALIGN float quarters[4 * kTileRows] = {};  // of each row, the kLanes sums added up to four by halves
  for (std::size_t j = 0; j < p.n; ++j) {
    const float* const b = p.b + j * p.stride;
    for (std::size_t i = 0; i < p.m; ++i) {
      const float* const a = p.a + i * p.stride;
      for (std::size_t lane = 0; lane < kLanes; lane += lanes) {
        Vector sum = hn::Zero(d);
        for (std::size_t s = lane; s < p.stride; s += kLanes) {
          sum = hn::MulAdd(hn::Load(d, a + s), hn::Load(d, b + s), sum);
        }
        hn::Store(sum, d, sums + lane);
      }
      for (std::size_t lane = 0; lane < 4; lane += hn::Lanes(few)) {
        const auto even = hn::Add(hn::Load(few, sums + lane), hn::Load(few, sums + lane + 8));
        const auto odd = hn::Add(hn::Load(few, sums + lane + 4), hn::Load(few, sums + lane + 12));
        hn::Store(hn::Add(even, odd), few, quarters + 4 * i + lane);
      }
    }
    for (std::size_t i = 0; i < p.m; i += lanes) {
      Vector q[4];
      hn::LoadInterleaved4(d, quarters + 4 * i, q[0], q[1], q[2], q[3]);
      hn::Store(hn::Add(hn::Add(q[0], q[2]), hn::Add(q[1], q[3])), d, p.c + j * p.c_stride + i);
    }
  }
}

}  // namespace podere::neural::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::neural {

HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplyRows);

void multiply(const Product& product) { HWY_DYNAMIC_DISPATCH(Multiply)(product); }
void multiply_rows(const DotProducts& dots) { HWY_DYNAMIC_DISPATCH(MultiplyRows)(dots); }

}  // namespace podere::neural
#endif
