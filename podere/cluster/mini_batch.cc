#include "podere/cluster/mini_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/cluster/seeding.h"
#include "podere/comm/exact_reduce.h"

namespace podere::cluster {
namespace {

constexpr std::uint64_t kBatchStream = 0x6b6e;  // of random numbers, beside those of find_start

/// Of `n` rows of all ranks that are drawn, with repetition, those here, rising.
std::vector<std::size_t> drawn_here(const ScaledRows& rows, std::size_t n, std::uint64_t seed, std::uint64_t draw) {
  const std::uint64_t key = hash64(seed, kBatchStream, draw);
  const auto n_all = static_cast<double>(rows.n_global_rows());
  std::vector<std::size_t> here;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row =
        std::min(static_cast<std::uint64_t>(uniform01(hash64(key, 0, i)) * n_all), rows.n_global_rows() - 1);
    const std::uint64_t place = row - rows.global(0).value;  // of rows before those here beyond all
    if (place < rows.n_rows()) here.push_back(static_cast<std::size_t>(place));
  }
  std::ranges::sort(here);
  return here;
}

/// Rows that all ranks have, by columns.
struct SharedRows {
  std::vector<std::vector<float>> columns;
  std::vector<float> weights;
};

/// Those that are drawn, in their order. Collective.
SharedRows gather_drawn(const ScaledRows& rows, std::size_t n, std::uint64_t seed, const comm::Communicator& comm) {
  std::vector<float> values_here;
  std::vector<float> weights_here;
  for (const std::size_t row : drawn_here(rows, n, seed, 0)) {
    const std::vector<float> values = rows.values(row);
    values_here.insert(values_here.end(), values.begin(), values.end());
    weights_here.push_back(rows.weight(row));
  }
  const std::vector<float> values = comm.all_gather_v(std::span<const float>(values_here));
  SharedRows shared{std::vector<std::vector<float>>(rows.n_features()),
                    comm.all_gather_v(std::span<const float>(weights_here))};
  for (std::size_t i = 0; i < values.size(); ++i) shared.columns[i % rows.n_features()].push_back(values[i]);
  return shared;
}

}  // namespace

MiniBatches::MiniBatches(const ScaledRows& rows, std::span<const double> bound, double max_weight, Centroids start,
                         const MiniBatchOptions& options, const comm::Communicator& comm, int n_threads)
    : rows_(rows),
      options_(options),
      units_(bound, max_weight, options.most_steps * options.batch),
      comm_(comm),
      n_threads_(n_threads),
      centroids_(std::move(start)),
      sums_(centroids_.size() * (centroids_.n_features + 1), 0) {}

/// What the rows of a batch add up to, exactly.
struct MiniBatches::BatchSums {
  std::vector<std::int64_t> of_clusters;  // [n x (n_features + 1)]
  ExactSum distance;                      // weighted
  ExactSum weight;

  void add(const BatchSums& other) {
    for (std::size_t i = 0; i < of_clusters.size(); ++i) of_clusters[i] += other.of_clusters[i];
    distance.add(other.distance);
    weight.add(other.weight);
  }
};

void MiniBatches::step() {
  BatchSums batch = assign(drawn_here(rows_, options_.batch, options_.seed, ++n_steps_));
  comm_.all_reduce(std::span(batch.of_clusters), comm::Reduction::kSum);
  std::array distances = {batch.distance, batch.weight};
  comm::all_reduce(comm_, std::span(distances));
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += batch.of_clusters[i];
  for (std::size_t k = 0; k < centroids_.size(); ++k) {
    const std::int64_t* const sums = sums_.data() + k * (centroids_.n_features + 1);
    if (units_.weight(sums) <= 0) continue;
    for (std::size_t j = 0; j < centroids_.n_features; ++j) centroids_.of(k)[j] = units_.mean(sums, j);
  }
  note_distances(distances[0].value(), distances[1].value());
}

/// To the nearest centroids. Local.
MiniBatches::BatchSums MiniBatches::assign(std::span<const std::size_t> drawn) const {
  std::vector<BatchSums> of_threads(static_cast<std::size_t>(n_threads_));
  for (BatchSums& sums : of_threads) sums.of_clusters.resize(sums_.size());
  const std::size_t n_sums = centroids_.n_features + 1;
  parallel_for_slices(n_threads_, drawn.size(), kTileRows, [&](std::size_t begin, std::size_t end, int thread) {
    BatchSums& mine = of_threads[static_cast<std::size_t>(thread)];
    HugeArray<float> tile(centroids_.n_features * kTileRows);
    NearestOfTile found;
    rows_.pack(drawn.subspan(begin, end - begin), tile.data());
    find_nearest(tile.data(), centroids_.n_features, centroids_.values.data(), centroids_.size(), found);
    for (std::size_t i = 0; i < end - begin; ++i) {
      const float weight = rows_.weight(drawn[begin + i]);
      const auto cluster = static_cast<std::size_t>(found.nearest[i]);
      units_.add(tile.data() + i, kTileRows, weight, 1, mine.of_clusters.data() + cluster * n_sums);
      mine.distance.add(double{weight} * double{found.distance[i]});
      mine.weight.add(double{weight});
    }
  });
  for (const BatchSums& sums : std::span(of_threads).subspan(1)) of_threads.front().add(sums);
  return std::move(of_threads.front());
}

void MiniBatches::note_distances(double sum, double weight) {
  if (weight <= 0) return;
  const double share = static_cast<double>(options_.batch) / (static_cast<double>(rows_.n_global_rows()) + 1);
  const double counts = std::isinf(least_) ? 1 : std::min(1.0, 2 * share);
  mean_distance_ += counts * (sum / weight - mean_distance_);
  const bool gains = mean_distance_ < least_;
  n_without_gain_ = gains ? 0 : n_without_gain_ + 1;
  if (gains) least_ = mean_distance_;
}

Centroids find_start_of_drawn(const ScaledRows& rows, std::size_t n, std::size_t n_drawn, std::uint64_t seed,
                              const comm::Communicator& comm, int n_threads) {
  if (n_drawn < rows.n_global_rows()) {
    const SharedRows shared = gather_drawn(rows, n_drawn, seed, comm);
    const Units as_they_are{std::vector<double>(rows.n_features(), 0), std::vector<double>(rows.n_features(), 1)};
    const ScaledRows drawn({shared.columns.begin(), shared.columns.end()}, shared.weights, {0, n_drawn}, n_drawn,
                           as_they_are);
    try {
      return find_start(drawn, n, seed, comm::Communicator::self(), n_threads);
    } catch (const InputError&) {
      // Too few differ, as all ranks find alike: others may.
    }
  }
  return find_start(rows, n, seed, comm, n_threads);
}

}  // namespace podere::cluster
