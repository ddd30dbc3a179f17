#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/linalg/block_kernel.cc"
#include "podere/linalg/block_kernel.h"

#include <algorithm>
#include <cmath>

#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::linalg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, kResultColumns>;
using Vector = hn::Vec<Doubles>;
constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
constexpr std::size_t kCachedVectors = (std::size_t{640} << 10) / (kChainRows * kLanes * sizeof(double));
constexpr std::size_t kMaxVectors = 3;  // of a panel: with kLanes sums of each they stay in registers

/// Calls use(panel, n_vectors, first) for the panels of so many columns, as even as can be: `panel` is where its values
/// begin, in vectors of a row, and `first` its first vector.
template <typename Use>
HWY_INLINE void ForEachPanel(std::size_t n_columns, Use&& use) {
  const std::size_t n_vectors = (n_columns + kLanes - 1) / kLanes;
  std::size_t v = 0;
  for (std::size_t left = (n_vectors + kMaxVectors - 1) / kMaxVectors; left > 0; --left) {
    const std::size_t n = (n_vectors - v + left - 1) / left;
    use(v, n);
    v += n;
  }
}

std::size_t PackedSize(std::size_t n_rows, std::size_t n_columns) {
  return n_rows * ((n_columns + kLanes - 1) / kLanes * kLanes);
}

void Pack(std::span<const double> rows, std::span<const double> shift, std::span<const double> factor, double* packed) {
  const Doubles d;
  const std::size_t n_columns = shift.size();
  const std::size_t n_rows = rows.size() / n_columns;
  constexpr std::size_t kRowsAtOnce = 8;  // are read from memory side by side, as processors expect it
  for (std::size_t begin = 0; begin < n_rows; begin += kRowsAtOnce) {
    const std::size_t end = std::min(begin + kRowsAtOnce, n_rows);
    ForEachPanel(n_columns, [&](std::size_t first, std::size_t n_vectors) {
      double* to = packed + (first * n_rows + begin * n_vectors) * kLanes;
      for (std::size_t i = begin; i < end; ++i) {
        const double* from = rows.data() + i * n_columns;
        for (std::size_t v = first; v < first + n_vectors; ++v, to += kLanes) {
          const std::size_t j = v * kLanes;
          if (j + kLanes <= n_columns) {
            const Vector moved = hn::Sub(hn::LoadU(d, from + j), hn::LoadU(d, shift.data() + j));
            hn::Store(hn::Mul(moved, hn::LoadU(d, factor.data() + j)), d, to);
          } else {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
              to[lane] = j + lane < n_columns ? (from[j + lane] - shift[j + lane]) * factor[j + lane] : 0;
            }
          }
        }
      }
    });
  }
}

/// Of kLanes columns of A and kVectors vectors of columns of B.
template <std::size_t kVectors>
HWY_INLINE void AddTile(const double* a, std::size_t a_stride, const double* b, std::size_t n_rows,
                        const Splitters& splitters, double* sums) {
  const Doubles d;
  Vector products[kLanes][kVectors];
  for (auto& row : products) {
    for (auto& product : row) product = hn::Zero(d);
  }
  // Sums of wide matrices are in memory rather than the cache.
  constexpr std::size_t kSums = kLanes * kVectors * kLanes;
  for (std::size_t i = 0; i < 2 * kSums; i += 8) hwy::Prefetch(sums + i);
  for (std::size_t i = 0; i < n_rows; ++i, a += a_stride, b += kVectors * kLanes) {
    Vector columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::Load(d, b + v * kLanes);
    for (std::size_t r = 0; r < kLanes; ++r) {
      const Vector value = hn::Set(d, a[r]);
      for (std::size_t v = 0; v < kVectors; ++v) products[r][v] = hn::MulAdd(value, columns[v], products[r][v]);
    }
  }
  const Vector high = hn::Set(d, splitters.high);
  const Vector low = hn::Set(d, splitters.low);
  double* low_sums = sums + kSums;
  for (std::size_t r = 0; r < kLanes; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v, sums += kLanes, low_sums += kLanes) {
      const Vector coarse = hn::Sub(hn::Add(products[r][v], high), high);
      const Vector fine = hn::Sub(hn::Add(hn::Sub(products[r][v], coarse), low), low);
      hn::Store(hn::Add(hn::Load(d, sums), coarse), d, sums);
      hn::Store(hn::Add(hn::Load(d, low_sums), fine), d, low_sums);
    }
  }
}

/// Calls use(a_vector, a_panel_first, a_panel_vectors, b_first, b_vectors) for the tiles, as they lie in the sums: so
/// many columns of A at a time as stay in the cache.
template <typename Use>
HWY_INLINE void ForEachTile(std::size_t n_a, std::size_t n_b, bool is_gram, Use&& use) {
  const std::size_t n_a_vectors = (n_a + kLanes - 1) / kLanes;
  for (std::size_t chunk = 0; chunk < n_a_vectors; chunk += kCachedVectors) {
    ForEachPanel(n_b, [&](std::size_t b_first, std::size_t b_vectors) {
      if (is_gram && b_first + b_vectors <= chunk) return;
      ForEachPanel(n_a, [&](std::size_t a_first, std::size_t a_vectors) {
        for (std::size_t v = a_first; v < a_first + a_vectors; ++v) {
          const bool is_in_chunk = v >= chunk && v < chunk + kCachedVectors;
          if (is_in_chunk && (!is_gram || v < b_first + b_vectors)) use(v, a_first, a_vectors, b_first, b_vectors);
        }
      });
    });
  }
}

std::size_t SumsSize(std::size_t n_a, std::size_t n_b, bool is_gram) {
  std::size_t size = 0;
  ForEachTile(n_a, n_b, is_gram, [&](std::size_t, std::size_t, std::size_t, std::size_t, std::size_t b_vectors) {
    size += 2 * kLanes * b_vectors * kLanes;
  });
  return size;
}

void AddProducts(const BlockProduct& p, const Splitters& splitters, double* sums) {
  ForEachTile(
      p.n_a, p.n_b, p.is_gram,
      [&](std::size_t v, std::size_t a_first, std::size_t a_vectors, std::size_t b_first, std::size_t b_vectors) {
        const double* a = p.a + a_first * kLanes * p.n_rows + (v - a_first) * kLanes;
        const double* b = p.b + b_first * kLanes * p.n_rows;
        const std::size_t a_stride = a_vectors * kLanes;
        if (b_vectors == 3) {
          AddTile<3>(a, a_stride, b, p.n_rows, splitters, sums);
        } else if (b_vectors == 2) {
          AddTile<2>(a, a_stride, b, p.n_rows, splitters, sums);
        } else {
          AddTile<1>(a, a_stride, b, p.n_rows, splitters, sums);
        }
        sums += 2 * kLanes * b_vectors * kLanes;
      });
}

void TakeSums(std::span<const double> sums, std::size_t n_a, std::size_t n_b, bool is_gram, double* high, double* low) {
  const double* from = sums.data();
  ForEachTile(n_a, n_b, is_gram,
              [&](std::size_t v, std::size_t, std::size_t, std::size_t b_first, std::size_t b_vectors) {
                const std::size_t width = b_vectors * kLanes;
                for (double* const to : {high, low}) {
                  for (std::size_t r = 0; r < kLanes; ++r, from += width) {
                    const std::size_t i = v * kLanes + r;
                    const std::size_t first = b_first * kLanes;
                    if (i < n_a) std::copy_n(from, std::min(width, n_b - first), to + i * n_b + first);
                  }
                }
              });
}

/// Rows i, i + 1, ... of A and a panel of X.
template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void MultiplyRows(const double* a, std::size_t n_rows, std::size_t n, std::size_t i, const double* x,
                             std::size_t l, double* y) {
  const Doubles d;
  Vector sums[kRows][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  ForEachPanel(n, [&](std::size_t first, std::size_t n_vectors) {
    const std::size_t width = n_vectors * kLanes;
    const double* const panel = a + first * kLanes * n_rows + i * width;
    const std::size_t n_columns = std::min(width, n - first * kLanes);
    for (std::size_t j = 0; j < n_columns; ++j, x += kVectors * kLanes) {
      Vector columns[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::Load(d, x + v * kLanes);
      for (std::size_t r = 0; r < kRows; ++r) {
        const Vector value = hn::Set(d, panel[r * width + j]);
        for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(value, columns[v], sums[r][v]);
      }
    }
  });
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, y + (i + r) * l + v * kLanes);
  }
}

template <std::size_t kVectors>
HWY_INLINE void MultiplyPanel(const double* a, std::size_t n_rows, std::size_t n, const double* x, std::size_t l,
                              double* y) {
  std::size_t i = 0;
  for (; i + kLanes <= n_rows; i += kLanes) MultiplyRows<kLanes, kVectors>(a, n_rows, n, i, x, l, y);
  for (; i < n_rows; ++i) MultiplyRows<1, kVectors>(a, n_rows, n, i, x, l, y);
}

void MultiplyPacked(const double* a, std::size_t n_rows, std::size_t n, const double* x, std::size_t l, double* y) {
  ForEachPanel(l, [&](std::size_t first, std::size_t n_vectors) {
    const double* const panel = x + first * kLanes * n;
    double* const to = y + first * kLanes;
    if (n_vectors == 3) {
      MultiplyPanel<3>(a, n_rows, n, panel, l, to);
    } else if (n_vectors == 2) {
      MultiplyPanel<2>(a, n_rows, n, panel, l, to);
    } else {
      MultiplyPanel<1>(a, n_rows, n, panel, l, to);
    }
  });
}

}  // namespace podere::linalg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::linalg {

HWY_EXPORT(PackedSize);
HWY_EXPORT(Pack);
HWY_EXPORT(SumsSize);
HWY_EXPORT(AddProducts);
HWY_EXPORT(TakeSums);
HWY_EXPORT(MultiplyPacked);

std::size_t packed_size(std::size_t n_rows, std::size_t n_columns) {
  return HWY_DYNAMIC_DISPATCH(PackedSize)(n_rows, n_columns);
}

void pack(std::span<const double> rows, std::span<const double> shift, std::span<const double> factor, double* packed) {
  HWY_DYNAMIC_DISPATCH(Pack)(rows, shift, factor, packed);
}

Splitters splitters_for(double bound, double n) {
  // Multiples of 2^(high - 52) whose sum is below 2^(high + 1) add up exactly. What is left of each is at most half of
  // that unit, and so is the sum of n of them at most n 2^(high - 53).
  const int high = std::ilogb(bound) + 2;
  const int low = high - 53 + std::ilogb(n) + 2;
  return {.high = std::ldexp(1.5, high), .low = std::ldexp(1.5, low)};
}

std::size_t sums_size(std::size_t n_a, std::size_t n_b, bool is_gram) {
  return HWY_DYNAMIC_DISPATCH(SumsSize)(n_a, n_b, is_gram);
}

void add_products(const BlockProduct& product, const Splitters& splitters, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddProducts)(product, splitters, sums);
}

void take_sums(std::span<const double> sums, std::size_t n_a, std::size_t n_b, bool is_gram, double* high,
               double* low) {
  HWY_DYNAMIC_DISPATCH(TakeSums)(sums, n_a, n_b, is_gram, high, low);
}

void multiply_packed(const double* a, std::size_t n_rows, std::size_t n, const double* x, std::size_t l, double* y) {
  HWY_DYNAMIC_DISPATCH(MultiplyPacked)(a, n_rows, n, x, l, y);
}

}  // namespace podere::linalg
#endif
