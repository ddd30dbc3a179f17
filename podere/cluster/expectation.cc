#include "podere/cluster/expectation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/comm/exact_reduce.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/product_sums.h"
#include "podere/linalg/tall_matrix.h"

namespace podere::cluster {
namespace {

/// Makes logarithms of weighted densities [n] the shares of the clusters; returns that of their sum.
double to_shares(std::span<double> logs) {
  const double largest = *std::ranges::max_element(logs);
  double sum = 0;
  for (double& log : logs) sum += log = portable_exp(log - largest);
  for (double& log : logs) log /= sum;
  return largest + portable_log(sum);
}

double sum_of_weights(const ScaledRows& rows, const comm::Communicator& comm) {
  ExactSum sum;
  for (std::size_t i = 0; i < rows.n_rows(); ++i) sum.add(double{rows.weight(i)});
  comm::all_reduce(comm, std::span(&sum, 1));
  return sum.value();
}

}  // namespace

void unpack(const ScaledRows& rows, std::size_t begin, std::size_t end, HugeArray<float>& tile,
            std::vector<double>& values) {
  const std::size_t n_features = rows.n_features();
  values.resize((end - begin) * n_features);
  for (std::size_t first = begin; first < end; first += kTileRows) {
    const std::size_t last = std::min(first + kTileRows, end);
    rows.pack(first, last, tile.data());
    for (std::size_t j = 0; j < n_features; ++j) {
      for (std::size_t i = first; i < last; ++i) {
        values[(i - begin) * n_features + j] = double{tile[j * kTileRows + i - first]};
      }
    }
  }
}

MeanLogLikelihood mean_log_likelihood(const ScaledRows& rows, const Gaussians& gaussians,
                                      const comm::Communicator& comm, int n_threads) {
  const LogDensities densities(gaussians);
  std::vector<ExactSum> of_thread(static_cast<std::size_t>(n_threads));
  parallel_for_slices(n_threads, rows.n_rows(), kDensityRows, [&](std::size_t begin, std::size_t end, int thread) {
    LogDensities::Workspace workspace(densities);
    HugeArray<float> tile(rows.n_features() * kTileRows);
    std::vector<double> values;
    std::vector<double> logs((end - begin) * gaussians.size());
    unpack(rows, begin, end, tile, values);
    densities.compute(values, workspace, logs);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum +=
          double{rows.weight(i)} * to_shares(std::span(logs).subspan((i - begin) * gaussians.size(), gaussians.size()));
    }
    of_thread[static_cast<std::size_t>(thread)].add(sum);
  });
  ExactSum total;
  for (const ExactSum& sum : of_thread) total.add(sum);
  comm::all_reduce(comm, std::span(&total, 1));
  const double weight = sum_of_weights(rows, comm);
  return {total.value() / weight, weight};
}

/// Sums over rows, of one thread: of the shares of clusters, of values times shares, and of their squares or products.
class ExpectationPasses::Sums {
 public:
  Sums(std::size_t n_clusters, std::size_t n_features, Covariance kind, const linalg::Splitters& splitters)
      : n_clusters_(n_clusters),
        n_features_(n_features),
        kind_(kind),
        splitters_(splitters),
        sums_(1 + n_clusters * per_cluster()),
        of_block_(sums_.size()) {
    if (!has_matrices(kind)) return;
    packed_ = HugeArray<double>(linalg::packed_size(kDensityRows, n_features));
    for (std::size_t k = 0; k < n_matrices(); ++k) {
      products_.emplace_back(n_features, n_features, true);
    }
  }

  /// `shares` [n_rows x n_clusters] of rows [n_rows x n_features], at most kDensityRows.
  void add(std::span<const double> rows, std::span<const double> shares, double log_likelihood) {
    const std::size_t n_rows = shares.size() / n_clusters_;
    std::ranges::fill(of_block_, 0.0);
    of_block_[0] = log_likelihood;
    for (std::size_t i = 0; i < n_rows; ++i) {
      for (std::size_t k = 0; k < n_clusters_; ++k) {
        const double share = shares[i * n_clusters_ + k];
        if (share != 0) add_row(rows.data() + i * n_features_, share, of_block_.data() + 1 + k * per_cluster());
      }
    }
    for (std::size_t s = 0; s < sums_.size(); ++s) sums_[s].add(of_block_[s]);
    for (std::size_t k = 0; k < products_.size(); ++k) add_products(rows, shares, k);
  }

  void add(const Sums& other) {
    for (std::size_t s = 0; s < sums_.size(); ++s) sums_[s].add(other.sums_[s]);
    for (std::size_t k = 0; k < products_.size(); ++k) products_[k].add(other.products_[k]);
  }

  /// Over all ranks: the log-likelihood; then of each cluster the sum of its shares, those of values times shares
  /// [n_features], and those of squares times shares [n_features] where there are no matrices. Collective.
  std::vector<double> totals(const comm::Communicator& comm) {
    comm::all_reduce(comm, std::span(sums_));
    std::vector<double> totals;
    for (const ExactSum& sum : sums_) totals.push_back(sum.value());
    return totals;
  }

  /// Over all ranks, of the products of values times shares: of cluster k, or of all clusters together. Collective.
  Eigen::MatrixXd products(std::size_t k, const comm::Communicator& comm) const { return products_[k].total(comm); }

  std::size_t per_cluster() const { return 1 + n_features_ * (has_matrices(kind_) ? 1 : 2); }

 private:
  std::size_t n_matrices() const { return kind_ == Covariance::kTied ? 1 : n_clusters_; }

  void add_row(const double* row, double share, double* sums) const {
    sums[0] += share;
    for (std::size_t j = 0; j < n_features_; ++j) sums[1 + j] += share * row[j];
    if (has_matrices(kind_)) return;
    for (std::size_t j = 0; j < n_features_; ++j) sums[1 + n_features_ + j] += share * row[j] * row[j];
  }

  void add_products(std::span<const double> rows, std::span<const double> shares, std::size_t k) {
    const std::size_t n_rows = shares.size() / n_clusters_;
    scaled_.resize(rows.size());
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::span<const double> of_row = shares.subspan(i * n_clusters_, n_clusters_);
      double share = of_row[k];
      if (kind_ == Covariance::kTied) {
        share = 0;
        for (const double of_cluster : of_row) share += of_cluster;
      }
      const double root = std::sqrt(share);
      for (std::size_t j = 0; j < n_features_; ++j) scaled_[i * n_features_ + j] = root * rows[i * n_features_ + j];
    }
    const auto as_they_are = linalg::ColumnMap::identity(n_features_);
    linalg::pack(scaled_, as_they_are.shift, as_they_are.factor, packed_.data());
    products_[k].add(packed_.data(), packed_.data(), n_rows, splitters_);
  }

  std::size_t n_clusters_;
  std::size_t n_features_;
  Covariance kind_;
  linalg::Splitters splitters_;
  std::vector<ExactSum> sums_;
  std::vector<double> of_block_;
  std::vector<double> scaled_;
  HugeArray<double> packed_;
  std::vector<linalg::ProductSums> products_;
};

ExpectationPasses::ExpectationPasses(const ScaledRows& rows, double bound, Covariance kind, double regularization,
                                     const comm::Communicator& comm, int n_threads)
    : rows_(rows),
      bound_(bound),
      kind_(kind),
      regularization_(regularization),
      comm_(comm),
      n_threads_(n_threads),
      total_weight_(sum_of_weights(rows, comm)) {}

Expectation ExpectationPasses::pass(std::size_t n_clusters, const std::function<FillShares()>& make) const {
  const double n_blocks = std::ceil(static_cast<double>(rows_.n_global_rows()) / kDensityRows) + 1;
  const double bound = std::max(bound_, 1.0);
  const auto splitters = linalg::splitters_for(bound * bound * (total_weight_ + 1), n_blocks);
  std::vector<Sums> sums;
  std::vector<FillShares> fill;
  for (int thread = 0; thread < n_threads_; ++thread) {
    sums.emplace_back(n_clusters, rows_.n_features(), kind_, splitters);
    fill.push_back(make());
  }
  parallel_for_slices(n_threads_, rows_.n_rows(), table::kBlockRows, [&](std::size_t first, std::size_t last, int t) {
    const auto thread = static_cast<std::size_t>(t);
    HugeArray<float> tile(rows_.n_features() * kTileRows);
    std::vector<double> values;
    std::vector<double> shares;
    for (std::size_t begin = first; begin < last; begin += kDensityRows) {
      const std::size_t end = std::min(begin + kDensityRows, last);
      unpack(rows_, begin, end, tile, values);
      shares.assign((end - begin) * n_clusters, 0.0);
      const double log_likelihood = fill[thread](begin, values, shares);
      sums[thread].add(values, shares, log_likelihood);
    }
  });
  for (std::size_t thread = 1; thread < sums.size(); ++thread) sums[0].add(sums[thread]);
  const std::vector<double> totals = sums[0].totals(comm_);
  return {totals[0] / total_weight_, maximize(sums[0], std::span(totals).subspan(1), n_clusters)};
}

/// weight = sum r / sum w,  mean = sum r x / sum r,  covariance = sum r x x^T / sum r - mean mean^T + regularization
Gaussians ExpectationPasses::maximize(const Sums& sums, std::span<const double> totals, std::size_t n_clusters) const {
  const auto n_features = static_cast<Eigen::Index>(rows_.n_features());
  Gaussians found{.kind = kind_};
  Eigen::MatrixXd tied;
  if (kind_ == Covariance::kTied) tied = sums.products(0, comm_) / total_weight_;
  for (std::size_t k = 0; k < n_clusters; ++k) {
    const double* const of_cluster = totals.data() + k * sums.per_cluster();
    const double share = of_cluster[0];
    const double divisor = share > 0 ? share : 1;  // one without rows has the weight 0
    const Eigen::Map<const Eigen::VectorXd> value_sums(of_cluster + 1, n_features);
    found.weights.push_back(share / total_weight_);
    found.means.emplace_back(value_sums / divisor);
    const Eigen::VectorXd& mean = found.means.back();
    if (kind_ == Covariance::kFull) {
      found.covariances.emplace_back(sums.products(k, comm_) / divisor - mean * mean.transpose());
    } else if (kind_ == Covariance::kTied) {
      tied -= found.weights.back() * mean * mean.transpose();
    } else {
      const Eigen::Map<const Eigen::VectorXd> square_sums(of_cluster + 1 + n_features, n_features);
      Eigen::VectorXd variances = (square_sums / divisor - mean.cwiseAbs2()).cwiseMax(0.0);
      if (kind_ == Covariance::kSpherical) variances.setConstant(variances.mean());
      found.covariances.emplace_back(variances);
    }
  }
  if (kind_ == Covariance::kTied) found.covariances.assign(n_clusters, tied);
  for (Eigen::MatrixXd& covariance : found.covariances) {
    if (has_matrices(kind_)) {
      covariance.diagonal().array() += regularization_;
    } else {
      covariance.array() += regularization_;
    }
  }
  return found;
}

Expectation ExpectationPasses::begin(const Centroids& centroids) const {
  std::vector<std::int32_t> nearest(rows_.n_rows());
  for_each_nearest(rows_, centroids, n_threads_,
                   [&](std::size_t first, std::size_t last, const NearestOfTile& found, int) {
                     std::copy_n(found.nearest, last - first, nearest.begin() + static_cast<long>(first));
                   });
  const std::size_t n = centroids.size();
  return pass(n, [&]() -> FillShares {
    return [&, n](std::size_t first, std::span<const double> /*rows*/, std::span<double> shares) {
      for (std::size_t i = 0; i * n < shares.size(); ++i) {
        shares[i * n + static_cast<std::size_t>(nearest[first + i])] = double{rows_.weight(first + i)};
      }
      return 0.0;
    };
  });
}

Expectation ExpectationPasses::improve(const Gaussians& gaussians) const {
  const LogDensities densities(gaussians);
  const std::size_t n = gaussians.size();
  return pass(n, [&]() -> FillShares {
    const auto workspace = std::make_shared<LogDensities::Workspace>(densities);
    return [&, n, workspace](std::size_t first, std::span<const double> rows, std::span<double> shares) {
      densities.compute(rows, *workspace, shares);
      double log_likelihood = 0;
      for (std::size_t i = 0; i * n < shares.size(); ++i) {
        const std::span<double> of_row = shares.subspan(i * n, n);
        const auto weight = double{rows_.weight(first + i)};
        log_likelihood += weight * to_shares(of_row);
        for (double& share : of_row) share *= weight;
      }
      return log_likelihood;
    };
  });
}

}  // namespace podere::cluster
