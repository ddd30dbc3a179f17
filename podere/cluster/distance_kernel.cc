#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/cluster/distance_kernel.cc"
#include "podere/cluster/distance_kernel.h"

#include <algorithm>
#include <limits>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace podere::cluster::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Vector = hn::Vec<Floats>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
constexpr std::size_t kVectors = kTileRows / kLanes >= 2 ? 2 : 1;  // of rows; with kCentroids of them in registers
constexpr std::size_t kCentroids = 4;
constexpr float kLeastGap = 1e-30F;  // of squares: far above what float32 loses of the smallest

/// x - c, squared, is added for each feature.
struct Differences {
  HWY_INLINE Vector Begin(std::size_t /*k*/) const { return hn::Zero(Floats()); }
  HWY_INLINE Vector Add(Vector x, Vector c, Vector sum) const {
    const Vector difference = hn::Sub(x, c);
    return podere::HWY_NAMESPACE::FusedMultiplyAdd(difference, difference, sum);
  }
};

/// |c|^2 / 2 - x c, less an error of the former's.
struct Products {
  const float* half_squares;
  float share;
  HWY_INLINE Vector Begin(std::size_t k) const { return hn::Set(Floats(), half_squares[k] * share); }
  HWY_INLINE Vector Add(Vector x, Vector c, Vector sum) const {
    return podere::HWY_NAMESPACE::FusedMultiplyAdd(hn::Neg(x), c, sum);
  }
};

/// Calls use(k, sums) for the centroids from `first` on, kN of them together, with the sums of kVectors vectors of
/// rows.
template <std::size_t kN, typename Terms, typename Use>
HWY_INLINE void SumTogether(const Terms& terms, const float* tile, std::size_t n_features, const float* centroids,
                            std::size_t first, Use&& use) {
  const Floats d;
  centroids += first * n_features;
  Vector sums[kN][kVectors];
  for (std::size_t k = 0; k < kN; ++k) {
    for (auto& sum : sums[k]) sum = terms.Begin(first + k);
  }
  for (std::size_t j = 0; j < n_features; ++j, tile += kTileRows) {
    Vector rows[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) rows[v] = hn::Load(d, tile + v * kLanes);
    for (std::size_t k = 0; k < kN; ++k) {
      const Vector center = hn::Set(d, centroids[k * n_features + j]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[k][v] = terms.Add(rows[v], center, sums[k][v]);
    }
  }
  for (std::size_t k = 0; k < kN; ++k) use(first + k, sums[k]);
}

/// Of kVectors vectors of rows.
template <typename Terms, typename Use>
HWY_INLINE void ForEachCentroid(const Terms& terms, const float* tile, std::size_t n_features, const float* centroids,
                                std::size_t n_centroids, Use&& use) {
  std::size_t k = 0;
  for (; k + kCentroids <= n_centroids; k += kCentroids) {
    SumTogether<kCentroids>(terms, tile, n_features, centroids, k, use);
  }
  for (; k < n_centroids; ++k) SumTogether<1>(terms, tile, n_features, centroids, k, use);
}

template <typename Terms>
HWY_INLINE void FindLeast(const Terms& terms, const float* tile, std::size_t n_features, const float* centroids,
                          std::size_t n_centroids, NearestOfTile& result) {
  const Floats d;
  const Ints di;
  for (std::size_t row = 0; row < kTileRows; row += kVectors * kLanes) {
    Vector least[kVectors];
    Vector second[kVectors];
    hn::Vec<Ints> nearest[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      least[v] = second[v] = hn::Set(d, std::numeric_limits<float>::infinity());
      nearest[v] = hn::Zero(di);
    }
    ForEachCentroid(terms, tile + row, n_features, centroids, n_centroids,
                    [&](std::size_t k, const Vector(&sums)[kVectors]) {
                      const auto index = hn::Set(di, static_cast<std::int32_t>(k));
                      for (std::size_t v = 0; v < kVectors; ++v) {
                        const auto is_less = hn::RebindMask(di, hn::Lt(sums[v], least[v]));
                        second[v] = hn::Min(second[v], hn::Max(sums[v], least[v]));
                        least[v] = hn::Min(sums[v], least[v]);
                        nearest[v] = hn::IfThenElse(is_less, index, nearest[v]);
                      }
                    });
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(least[v], d, result.distance + row + v * kLanes);
      hn::Store(second[v], d, result.second + row + v * kLanes);
      hn::Store(nearest[v], di, result.nearest + row + v * kLanes);
    }
  }
}

void FindNearest(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                 NearestOfTile& result) {
  FindLeast(Differences(), tile, n_features, centroids, n_centroids, result);
}

bool FindNearestByProducts(const float* tile, std::size_t n_features, const float* centroids, const float* half_squares,
                           std::size_t n_centroids, NearestOfTile& result) {
  const Floats d;
  const float of_differences = static_cast<float>(n_features + 4) * 0x1.1p-24F;  // relative to the distance
  const float of_products = 2 * of_differences;                                  // relative to |x|^2 + |c|^2
  FindLeast(Products{half_squares, 1 - of_products}, tile, n_features, centroids, n_centroids, result);
  bool is_sure = true;
  for (std::size_t row = 0; row < kTileRows; row += kLanes) {
    Vector square = hn::Zero(d);
    for (std::size_t j = 0; j < n_features; ++j) {
      const Vector x = hn::Load(d, tile + j * kTileRows + row);
      square = podere::HWY_NAMESPACE::FusedMultiplyAdd(x, x, square);
    }
    const Vector half_nearest = hn::GatherIndex(d, half_squares, hn::Load(Ints(), result.nearest + row));
    const Vector twice = hn::Add(square, hn::Add(half_nearest, half_nearest));
    const auto least = [&](const float* sums) {
      const Vector sum = hn::Load(d, sums + row);
      return hn::Add(hn::Mul(square, hn::Set(d, 1 - of_products)), hn::Add(sum, sum));
    };
    const Vector nearest = hn::Add(least(result.distance), hn::Mul(twice, hn::Set(d, 2 * of_products)));
    const Vector most = hn::Mul(nearest, hn::Set(d, 1 + of_differences));
    const Vector second = hn::Mul(least(result.second), hn::Set(d, 1 - of_differences));
    hn::Store(most, d, result.distance + row);
    hn::Store(second, d, result.second + row);
    is_sure = is_sure && hn::AllTrue(d, hn::Lt(hn::Add(most, hn::Set(d, kLeastGap)), second));
  }
  return is_sure;
}

void SquaredDistances(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                      float* result) {
  const Floats d;
  for (std::size_t row = 0; row < kTileRows; row += kVectors * kLanes) {
    ForEachCentroid(Differences(), tile + row, n_features, centroids, n_centroids,
                    [&](std::size_t k, const Vector(&sums)[kVectors]) {
                      for (std::size_t v = 0; v < kVectors; ++v) {
                        hn::StoreU(sums[v], d, result + k * kTileRows + row + v * kLanes);
                      }
                    });
  }
}

void ScaleTile(float* tile, std::size_t n_features, std::size_t n_rows, const double* shift, const double* factor,
               float farthest) {
  const hn::CappedTag<double, kLanes> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const auto most = hn::Set(narrow, farthest);
  for (std::size_t j = 0; j < n_features; ++j) {
    for (std::size_t i = 0; i < kTileRows; i += hn::Lanes(wide), tile += hn::Lanes(wide)) {
      const auto is_row = hn::FirstN(narrow, n_rows - std::min(i, n_rows));
      const auto values = hn::PromoteTo(wide, hn::MaskedLoad(is_row, narrow, tile));
      const auto scaled = hn::Mul(hn::Sub(values, hn::Set(wide, shift[j])), hn::Set(wide, factor[j]));
      const auto bounded = hn::Max(hn::Min(hn::DemoteTo(narrow, scaled), most), hn::Neg(most));
      hn::Store(hn::IfThenElseZero(is_row, bounded), narrow, tile);
    }
  }
}

}  // namespace podere::cluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::cluster {

HWY_EXPORT(FindNearest);
HWY_EXPORT(FindNearestByProducts);
HWY_EXPORT(SquaredDistances);
HWY_EXPORT(ScaleTile);

void find_nearest(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                  NearestOfTile& result) {
  HWY_DYNAMIC_DISPATCH(FindNearest)(tile, n_features, centroids, n_centroids, result);
}

bool find_nearest_by_products(const float* tile, std::size_t n_features, const float* centroids,
                              const float* half_squares, std::size_t n_centroids, NearestOfTile& result) {
  return HWY_DYNAMIC_DISPATCH(FindNearestByProducts)(tile, n_features, centroids, half_squares, n_centroids, result);
}

void squared_distances(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                       float* result) {
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(tile, n_features, centroids, n_centroids, result);
}

void scale_tile(float* tile, std::size_t n_features, std::size_t n_rows, const double* shift, const double* factor,
                float farthest) {
  HWY_DYNAMIC_DISPATCH(ScaleTile)(tile, n_features, n_rows, shift, factor, farthest);
}

}  // namespace podere::cluster
#endif
