#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/cluster/distance_kernel.cc"
#include "podere/cluster/distance_kernel.h"

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

/// Squared distances of kVectors vectors of rows from kN centroids, which lie one after another.
template <std::size_t kN>
HWY_INLINE void Distances(const float* tile, std::size_t n_features, const float* centroids,
                          Vector (&sums)[kN][kVectors]) {
  const Floats d;
  for (auto& of_centroid : sums) {
    for (auto& sum : of_centroid) sum = hn::Zero(d);
  }
  for (std::size_t j = 0; j < n_features; ++j, tile += kTileRows) {
    Vector rows[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) rows[v] = hn::Load(d, tile + v * kLanes);
    for (std::size_t k = 0; k < kN; ++k) {
      const Vector center = hn::Set(d, centroids[k * n_features + j]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Vector difference = hn::Sub(rows[v], center);
        sums[k][v] = podere::HWY_NAMESPACE::FusedMultiplyAdd(difference, difference, sums[k][v]);
      }
    }
  }
}

/// Calls use(first_row, k, sums) for the centroids from `k` on that are taken together, and each group of rows.
template <typename Use>
HWY_INLINE void ForEachGroup(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                             Use&& use) {
  for (std::size_t row = 0; row < kTileRows; row += kVectors * kLanes) {
    std::size_t k = 0;
    for (; k + kCentroids <= n_centroids; k += kCentroids) {
      Vector sums[kCentroids][kVectors];
      Distances<kCentroids>(tile + row, n_features, centroids + k * n_features, sums);
      for (std::size_t i = 0; i < kCentroids; ++i) use(row, k + i, sums[i]);
    }
    for (; k < n_centroids; ++k) {
      Vector sums[1][kVectors];
      Distances<1>(tile + row, n_features, centroids + k * n_features, sums);
      use(row, k, sums[0]);
    }
  }
}

void FindNearest(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                 NearestOfTile& result) {
  const Floats d;
  const Ints di;
  const Vector infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  for (std::size_t row = 0; row < kTileRows; row += kLanes) {
    hn::Store(infinite, d, result.distance + row);
    hn::Store(infinite, d, result.second + row);
    hn::Store(hn::Zero(di), di, result.nearest + row);
  }
  ForEachGroup(tile, n_features, centroids, n_centroids,
               [&](std::size_t row, std::size_t k, const Vector(&sums)[kVectors]) {
                 const auto index = hn::Set(di, static_cast<std::int32_t>(k));
                 for (std::size_t v = 0; v < kVectors; ++v) {
                   const std::size_t i = row + v * kLanes;
                   const Vector nearest = hn::Load(d, result.distance + i);
                   const auto is_nearer = hn::Lt(sums[v], nearest);
                   const Vector others = hn::Max(sums[v], nearest);
                   hn::Store(hn::Min(hn::Load(d, result.second + i), others), d, result.second + i);
                   hn::Store(hn::Min(sums[v], nearest), d, result.distance + i);
                   const auto old = hn::Load(di, result.nearest + i);
                   hn::Store(hn::IfThenElse(hn::RebindMask(di, is_nearer), index, old), di, result.nearest + i);
                 }
               });
}

void SquaredDistances(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                      float* result) {
  const Floats d;
  ForEachGroup(tile, n_features, centroids, n_centroids,
               [&](std::size_t row, std::size_t k, const Vector(&sums)[kVectors]) {
                 for (std::size_t v = 0; v < kVectors; ++v) {
                   hn::StoreU(sums[v], d, result + k * kTileRows + row + v * kLanes);
                 }
               });
}

}  // namespace podere::cluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::cluster {

HWY_EXPORT(FindNearest);
HWY_EXPORT(SquaredDistances);

void find_nearest(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                  NearestOfTile& result) {
  HWY_DYNAMIC_DISPATCH(FindNearest)(tile, n_features, centroids, n_centroids, result);
}

void squared_distances(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                       float* result) {
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(tile, n_features, centroids, n_centroids, result);
}

}  // namespace podere::cluster
#endif
