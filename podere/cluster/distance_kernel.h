// Squared distances of rows from centroids, many rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace podere::cluster {

/// Rows that kernels work on at a time. A tile [n_features x kTileRows] has them side by side, feature by feature.
inline constexpr std::size_t kTileRows = 64;

/// Of each row of a tile the nearest centroid, the first of several that are as near, and two squared distances.
struct alignas(64) NearestOfTile {
  std::int32_t nearest[kTileRows];
  float distance[kTileRows];  ///< from the nearest
  float second[kTileRows];    ///< from the nearest of the others; infinite where there are none
};

/// `centroids` [n_centroids x n_features]. A distance is one chain of fused multiply-adds over the features, so that it
/// has the same bits whichever rows share a tile:  |x - c|^2 = ((x_0 - c_0)^2 + (x_1 - c_1)^2) + ...
/// Its relative error is at most (n_features + 2) 2^-24. Differences are taken first, so nothing is lost on rows far
/// from zero.
void find_nearest(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                  NearestOfTile& result);

/// The same by half the operations, from  |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - x c), which is off by up to
/// 2 (n_features + 2) 2^-24 (|x|^2 + |c|^2). `half_squares` [n_centroids] are the |c|^2 / 2. Distances are bounds:
/// neither true ones nor those of find_nearest are larger from the nearest centroid, or smaller from any other.
/// False if a row's bounds do not say which centroid find_nearest finds; nothing then holds.
bool find_nearest_by_products(const float* tile, std::size_t n_features, const float* centroids,
                              const float* half_squares, std::size_t n_centroids, NearestOfTile& result);

/// All squared distances, `result` [n_centroids x kTileRows], the same bits as of find_nearest.
void squared_distances(const float* tile, std::size_t n_features, const float* centroids, std::size_t n_centroids,
                       float* result);

/// Each value of a tile becomes (value - shift) * factor of its feature, in float64, rounded once to float32; and
/// `farthest` or -`farthest` where it lies beyond. Places beyond `n_rows` become 0.
void scale_tile(float* tile, std::size_t n_features, std::size_t n_rows, const double* shift, const double* factor,
                float farthest);

}  // namespace podere::cluster
