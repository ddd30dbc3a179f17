// K-means by Lloyd's iterations, of which bounds save most distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "podere/cluster/row_sums.h"
#include "podere/cluster/scaled_rows.h"
#include "podere/comm/communicator.h"

namespace podere::cluster {

/// Rows that a thread takes at a time, a whole number of tiles.
inline constexpr std::size_t kSliceRows = 4096;

/// Centroids [n x n_features], one after another, in units.
struct Centroids {
  std::size_t n_features = 0;
  std::vector<float> values;

  std::size_t size() const { return n_features == 0 ? 0 : values.size() / n_features; }
  const float* of(std::size_t k) const { return values.data() + k * n_features; }
  float* of(std::size_t k) { return values.data() + k * n_features; }
};

/// What one iteration did.
struct Iteration {
  std::uint64_t n_moved = 0;  ///< rows that have another nearest centroid than before
  double shift = 0;           ///< sum of the squared distances by which centroids moved, in units; infinite where a
                              ///< cluster without rows got one
};

/// Lloyd's iterations on the rows of all ranks. Each row keeps an upper bound of its distance from its centroid, and a
/// lower bound of that from the others; while the former is less, its centroid is the nearest and nothing is computed.
/// Rounding errors are part of the bounds, so that the clusters are those of the plain algorithm, bit for bit.
/// A cluster without rows gets the row that is farthest from its centroid.
/// Source: G. Hamerly, "Making k-means even faster", SDM 2010.
///
/// Memory: 12 bytes a row, and 8 n (n_features + 1) bytes for n centroids on each thread.
class Lloyd {
 public:
  Lloyd(const ScaledRows& rows, const SumUnits& units, Centroids start, const comm::Communicator& comm, int n_threads);

  /// Finds the nearest centroid of each row, and moves the centroids to the means of theirs, unless no row has moved.
  /// Collective: an all_reduce of 8 n (n_features + 1) bytes.
  Iteration iterate();
  /// Finds the nearest centroid of each row alone, and returns how many rows have moved. Collective, as iterate().
  std::uint64_t find_clusters();

  const Centroids& centroids() const { return centroids_; }
  /// The sum of the weights of each cluster's rows [n], as they were last found.
  std::vector<double> weights() const;

 private:
  void assign(std::size_t begin, std::size_t end, int thread);
  void assign_tile(std::span<const std::size_t> rows, float* tile, int thread);
  void find_nearest_here(const float* tile, NearestOfTile& found) const;
  std::vector<double> move_centroids();
  bool fill_empty_clusters();
  bool fill(std::size_t cluster);
  void note_movement(const std::vector<double>& movement);

  const ScaledRows& rows_;
  const SumUnits& units_;
  const comm::Communicator& comm_;
  int n_threads_;
  Centroids centroids_;
  std::vector<float> half_squares_;                 // [n] of the centroids
  std::vector<std::int32_t> nearest_;               // [n_rows]; -1: not known
  std::vector<float> upper_;                        // [n_rows]
  std::vector<float> lower_;                        // [n_rows]
  std::vector<float> moved_;                        // [n] by how much centroids moved at most
  std::vector<float> others_moved_;                 // [n] by how much the others did
  std::vector<std::int64_t> sums_;                  // [n x (n_features + 1)] over all ranks
  std::vector<std::vector<std::int64_t>> changes_;  // of each thread: those of the sums, and the rows that moved
};

/// The weighted sum of squared distances of all rows from their nearest centroids, in units. Collective; the same bits
/// on any number of ranks.
double inertia(const ScaledRows& rows, const Centroids& centroids, const comm::Communicator& comm, int n_threads);

/// Calls use(begin, end, nearest, thread) for all rows here, up to kTileRows at a time. Local.
void for_each_nearest(
    const ScaledRows& rows, const Centroids& centroids, int n_threads,
    const std::function<void(std::size_t begin, std::size_t end, const NearestOfTile& nearest, int thread)>& use);

}  // namespace podere::cluster
