// How well clusters are apart.
#pragma once

#include <cstddef>
#include <optional>

#include "podere/cluster/lloyd.h"

namespace podere::cluster {

inline constexpr std::size_t kSilhouetteRows = 5000;

struct Silhouette {
  std::optional<double> mean;  ///< from -1 to 1; none where fewer than two clusters have rows
  std::size_t n_rows = 0;      ///< that it was measured on
};

/// The mean silhouette of the rows, or of about kSilhouetteRows of them, which are drawn by their numbers:
/// (b - a) / max(a, b), where a is the mean distance of a row from the others of its cluster, and b the least mean
/// distance from those of another one; 0 for a row that is alone. Weights do not count. Collective; the same bits on
/// any number of ranks. Each rank holds the sample.
/// Source: P. J. Rousseeuw, "Silhouettes", J. Comput. Appl. Math. 20 (1987).
Silhouette silhouette(const ScaledRows& rows, const Centroids& centroids, const comm::Communicator& comm,
                      int n_threads);

}  // namespace podere::cluster
