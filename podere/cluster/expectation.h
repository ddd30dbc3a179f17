// One pass of expectation-maximization over rows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "podere/cluster/gaussians.h"
#include "podere/cluster/lloyd.h"
#include "podere/cluster/scaled_rows.h"
#include "podere/comm/communicator.h"

namespace podere::cluster {

/// Rows [begin, end), at most kDensityRows, in units and row by row, [end - begin x n_features]. `tile` is as of
/// ScaledRows::pack.
void unpack(const ScaledRows& rows, std::size_t begin, std::size_t end, HugeArray<float>& tile,
            std::vector<double>& values);

/// The weighted mean of the logarithms of the densities of all rows, in units, and the sum of their weights.
/// Collective.
struct MeanLogLikelihood {
  double mean;
  double weight;
};
MeanLogLikelihood mean_log_likelihood(const ScaledRows& rows, const Gaussians& gaussians,
                                      const comm::Communicator& comm, int n_threads);

/// What one pass over all rows found.
struct Expectation {
  double log_likelihood = 0;  ///< the weighted mean of the logarithms of the rows' densities, in units
  Gaussians gaussians;        ///< the most likely ones, for the clusters that rows had
};

/// Passes of expectation-maximization over the rows of all ranks. Sums are exact, so that results have the same bits on
/// any number of ranks and threads: those of products by linalg's kernels, all others by blocks of kDensityRows.
class ExpectationPasses {
 public:
  /// `bound`: no value of the rows is larger in magnitude. `regularization` is added to each variance. Collective.
  ExpectationPasses(const ScaledRows& rows, double bound, Covariance kind, double regularization,
                    const comm::Communicator& comm, int n_threads);

  /// The sum of the weights of all rows.
  double total_weight() const { return total_weight_; }

  /// With each row wholly in the cluster of the nearest centroid; has no likelihood. Collective, as the other.
  Expectation begin(const Centroids& centroids) const;
  /// With each row in the clusters as likely as it is. An all_reduce of 8 n (n_features + 1) bytes for each matrix.
  Expectation improve(const Gaussians& gaussians) const;

 private:
  class Sums;
  /// Sets how much each row [n_rows x n_features] of a block belongs to each cluster, `shares` [n_rows x n]; returns
  /// the sum of the weighted logarithms of their densities. `first` is the first row of the block.
  using FillShares = std::function<double(std::size_t first, std::span<const double> rows, std::span<double> shares)>;
  /// `make` makes one for each thread.
  Expectation pass(std::size_t n_clusters, const std::function<FillShares()>& make) const;
  Gaussians maximize(const Sums& sums, std::span<const double> totals, std::size_t n_clusters) const;

  const ScaledRows& rows_;
  double bound_;
  Covariance kind_;
  double regularization_;
  const comm::Communicator& comm_;
  int n_threads_;
  double total_weight_;
};

}  // namespace podere::cluster
