#include "podere/cluster/silhouette.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/exact_sum.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"

namespace podere::cluster {
namespace {

constexpr std::uint64_t kSampleStream = 0x7369;

/// Rows of all ranks.
struct Sample {
  Centroids points;
  std::vector<std::int32_t> cluster;  // of each
};

Sample draw_sample(const ScaledRows& rows, const Centroids& centroids, const comm::Communicator& comm, int n_threads) {
  std::vector<std::int32_t> cluster(rows.n_rows(), -1);
  const double share = static_cast<double>(kSilhouetteRows) / static_cast<double>(rows.n_global_rows());
  for_each_nearest(rows, centroids, n_threads,
                   [&](std::size_t begin, std::size_t end, const NearestOfTile& found, int) {
                     for (std::size_t i = begin; i < end; ++i) {
                       const double u = uniform01(hash64(0, kSampleStream, rows.global(i).value));
                       if (u < share) cluster[i] = found.nearest[i - begin];
                     }
                   });
  std::vector<float> values;
  std::vector<std::int32_t> clusters;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (cluster[i] < 0) continue;
    const std::vector<float> row = rows.values(i);
    values.insert(values.end(), row.begin(), row.end());
    clusters.push_back(cluster[i]);
  }
  return {{rows.n_features(), comm.all_gather_v(std::span<const float>(values))},
          comm.all_gather_v(std::span<const std::int32_t>(clusters))};
}

/// Of one row, by the sums of its distances from the rows of each cluster.
double silhouette_of(std::size_t own, const std::vector<double>& sums, const std::vector<std::size_t>& counts) {
  if (counts[own] < 2) return 0;
  const double a = sums[own] / static_cast<double>(counts[own] - 1);
  double b = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (k != own && counts[k] > 0) b = std::min(b, sums[k] / static_cast<double>(counts[k]));
  }
  const double larger = std::max(a, b);
  return larger > 0 ? (b - a) / larger : 0;
}

/// Of the rows [begin, end) of the sample, at most a tile of them.
double sum_of_tile(const Sample& sample, std::size_t begin, std::size_t end, const std::vector<std::size_t>& counts) {
  const std::size_t n_features = sample.points.n_features;
  HugeArray<float> tile(n_features * kTileRows);
  std::ranges::fill(tile.span(), 0.0F);
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t j = 0; j < n_features; ++j) tile[j * kTileRows + i - begin] = sample.points.of(i)[j];
  }
  HugeArray<float> distances(sample.points.size() * kTileRows);
  squared_distances(tile.data(), n_features, sample.points.values.data(), sample.points.size(), distances.data());
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    std::vector<double> sums(counts.size(), 0);
    for (std::size_t other = 0; other < sample.cluster.size(); ++other) {
      sums[static_cast<std::size_t>(sample.cluster[other])] +=
          std::sqrt(double{distances[other * kTileRows + i - begin]});
    }
    sum += silhouette_of(static_cast<std::size_t>(sample.cluster[i]), sums, counts);
  }
  return sum;
}

}  // namespace

Silhouette silhouette(const ScaledRows& rows, const Centroids& centroids, const comm::Communicator& comm,
                      int n_threads) {
  const Sample sample = draw_sample(rows, centroids, comm, n_threads);
  std::vector<std::size_t> counts(centroids.size(), 0);
  for (const std::int32_t k : sample.cluster) ++counts[static_cast<std::size_t>(k)];
  const std::size_t n = sample.cluster.size();
  if (std::ranges::count_if(counts, [](std::size_t count) { return count > 0; }) < 2) return {{}, n};
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  const std::size_t n_tiles = (n + kTileRows - 1) / kTileRows;
  std::vector<double> of_tile(n_tiles, 0);  // of those that are this rank's
  parallel_for(n_threads, n_tiles, [&](std::size_t tile, int) {
    if (tile % n_ranks != static_cast<std::size_t>(comm.rank())) return;
    of_tile[tile] = sum_of_tile(sample, tile * kTileRows, std::min(n, (tile + 1) * kTileRows), counts);
  });
  ExactSum total;
  for (const double sum : of_tile) total.add(sum);
  comm::all_reduce(comm, std::span(&total, 1));
  return {total.value() / static_cast<double>(n), n};
}

}  // namespace podere::cluster
