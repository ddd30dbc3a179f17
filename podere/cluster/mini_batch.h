// K-means by steps on a few rows each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "podere/cluster/lloyd.h"

namespace podere::cluster {

struct MiniBatchOptions {
  std::size_t batch = 1024;  ///< rows of a step, of which some may be the same
  int patience = 10;         ///< converged after so many steps in a row that did not improve
  std::uint64_t most_steps = 0;
  std::uint64_t seed = 0;
};

/// Each step draws rows by hashes of (seed, step, place in the batch), finds their nearest centroids and moves these to
/// the mean of all rows that were drawn for them so far. So a step costs as much on a billion rows as on a million.
/// Sums are exact, as of Lloyd, and rows count as often as they are drawn. Source: D. Sculley, "Web-scale k-means
/// clustering", WWW 2010.
class MiniBatches {
 public:
  /// `bound` as of Spread; `max_weight` over all ranks.
  MiniBatches(const ScaledRows& rows, std::span<const double> bound, double max_weight, Centroids start,
              const MiniBatchOptions& options, const comm::Communicator& comm, int n_threads);

  /// Collective: an all_reduce of 8 n (n_features + 1) bytes for n centroids, and one of 1,120.
  void step();
  /// Whether the inertia of batches no longer falls: its running mean, in which a batch counts by twice its share of
  /// all rows. Source: scikit-learn's MiniBatchKMeans.
  bool has_converged() const { return n_without_gain_ >= options_.patience; }
  std::uint64_t n_steps() const { return n_steps_; }
  /// Of the batches lately: the mean of squared distances, in units.
  double mean_distance() const { return mean_distance_; }
  const Centroids& centroids() const { return centroids_; }

 private:
  struct BatchSums;
  BatchSums assign(std::span<const std::size_t> drawn) const;
  void note_distances(double sum, double weight);

  const ScaledRows& rows_;
  MiniBatchOptions options_;
  SumUnits units_;
  const comm::Communicator& comm_;
  int n_threads_;
  Centroids centroids_;
  std::vector<std::int64_t> sums_;  // [n x (n_features + 1)] over all ranks and steps
  std::uint64_t n_steps_ = 0;
  int n_without_gain_ = 0;
  double mean_distance_ = 0;
  double least_ = std::numeric_limits<double>::infinity();  // that mean_distance_ ever was
};

/// find_start among `n_drawn` rows, which all ranks get; among all rows where there are not more, or where too few of
/// those that were drawn differ. Collective. Throws as find_start.
Centroids find_start_of_drawn(const ScaledRows& rows, std::size_t n, std::size_t n_drawn, std::uint64_t seed,
                              const comm::Communicator& comm, int n_threads);

}  // namespace podere::cluster
