#include "podere/cluster/seeding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/comm/exact_reduce.h"

namespace podere::cluster {
namespace {

constexpr int kPasses = 5;                       // of k-means||, after which more candidates hardly help
constexpr std::size_t kPicked = 2;               // candidates of a pass, as multiples of the clusters
constexpr double kMostOperations = 0x1p34;       // of k-means++, for which fewer points are drawn at a time
constexpr std::uint64_t kFirstStream = 0x6b6d;   // of random numbers, one for each pass
constexpr std::uint64_t kChoiceStream = 0x6b6c;  // of k-means++
constexpr std::uint64_t kNoCandidate = std::numeric_limits<std::uint64_t>::max();

/// Rows that are candidates, on all ranks, and which of them is nearest to each row here.
class Candidates {
 public:
  Candidates(const ScaledRows& rows, std::uint64_t seed, const comm::Communicator& comm, int n_threads)
      : rows_(rows),
        seed_(seed),
        comm_(comm),
        n_threads_(n_threads),
        found_{rows.n_features(), {}},
        nearest_(rows.n_rows(), 0),
        distance_(rows.n_rows(), std::numeric_limits<float>::infinity()) {
    add(first_row());
  }

  const Centroids& found() const { return found_; }

  /// Picks about `n` rows, with probabilities by their squared distances; false where all rows are candidates.
  /// Collective.
  bool pick(std::size_t n) {
    const double total = cost();
    if (total <= 0) return false;
    std::vector<std::vector<std::size_t>> of_slice((rows_.n_rows() + kSliceRows - 1) / kSliceRows);
    parallel_for(n_threads_, of_slice.size(), [&](std::size_t slice, int) {
      for (std::size_t i = slice * kSliceRows; i < std::min((slice + 1) * kSliceRows, rows_.n_rows()); ++i) {
        const double probability = static_cast<double>(n) * cost_of(i) / total;
        if (uniform01(hash64(seed_, stream_, rows_.global(i).value)) < probability) of_slice[slice].push_back(i);
      }
    });
    ++stream_;
    std::vector<float> picked;
    for (const auto& rows : of_slice) {
      for (const std::size_t i : rows) {
        const std::vector<float> values = rows_.values(i);
        picked.insert(picked.end(), values.begin(), values.end());
      }
    }
    add(picked);
    return true;
  }

  /// By the weights of the rows nearest to each. Collective.
  std::vector<double> weights() const {
    std::vector<ExactSum> sums(found_.size());
    for (std::size_t i = 0; i < rows_.n_rows(); ++i) sums[nearest_[i]].add(double{rows_.weight(i)});
    comm::all_reduce(comm_, std::span(sums));
    std::vector<double> weights;
    for (const ExactSum& sum : sums) weights.push_back(sum.value());
    return weights;
  }

 private:
  double cost_of(std::size_t row) const { return double{rows_.weight(row)} * double{distance_[row]}; }

  /// Of all rows, by sums of slices, which begin at the same rows on any number of ranks. Collective.
  double cost() const {
    std::vector<ExactSum> of_thread(static_cast<std::size_t>(n_threads_));
    parallel_for_slices(n_threads_, rows_.n_rows(), table::kBlockRows,
                        [&](std::size_t begin, std::size_t end, int thread) {
                          double sum = 0;
                          for (std::size_t i = begin; i < end; ++i) sum += cost_of(i);
                          of_thread[static_cast<std::size_t>(thread)].add(sum);
                        });
    ExactSum total;
    for (const ExactSum& sum : of_thread) total.add(sum);
    comm::all_reduce(comm_, std::span(&total, 1));
    return total.value();
  }

  /// The values of one row here, or none: that of all ranks drawn with a probability by its weight, which is the least
  /// of exponential waiting times. Collective.
  std::vector<float> first_row() {
    std::pair<double, std::uint64_t> first{std::numeric_limits<double>::infinity(), kNoCandidate};
    for (std::size_t i = 0; i < rows_.n_rows(); ++i) {
      if (rows_.weight(i) <= 0) continue;
      const double u = uniform01(hash64(seed_, stream_, rows_.global(i).value));
      first = std::min(first, {-portable_log(1 - u) / double{rows_.weight(i)}, rows_.global(i).value});
    }
    ++stream_;
    const double least = comm_.all_reduce(first.first, comm::Reduction::kMin);
    const std::uint64_t row =
        comm_.all_reduce(first.first == least ? first.second : kNoCandidate, comm::Reduction::kMin);
    return row == first.second && row != kNoCandidate
               ? rows_.values(static_cast<std::size_t>(row - rows_.global(0).value))
               : std::vector<float>();
  }

  /// What each rank has picked, in the order of rows. Collective.
  void add(const std::vector<float>& picked) {
    const std::size_t n_before = found_.size();
    const std::vector<float> all = comm_.all_gather_v(std::span(picked));
    found_.values.insert(found_.values.end(), all.begin(), all.end());
    const Centroids added{found_.n_features, all};
    if (added.size() == 0) return;
    for_each_nearest(rows_, added, n_threads_,
                     [&](std::size_t begin, std::size_t end, const NearestOfTile& nearest, int) {
                       for (std::size_t i = begin; i < end; ++i) {
                         if (nearest.distance[i - begin] >= distance_[i]) continue;
                         distance_[i] = nearest.distance[i - begin];
                         nearest_[i] = n_before + static_cast<std::size_t>(nearest.nearest[i - begin]);
                       }
                     });
  }

  const ScaledRows& rows_;
  std::uint64_t seed_;
  const comm::Communicator& comm_;
  int n_threads_;
  std::uint64_t stream_ = kFirstStream;
  Centroids found_;
  std::vector<std::size_t> nearest_;  // [n_rows] among `found_`
  std::vector<float> distance_;       // [n_rows] squared
};

/// The place where the running sum of `values` first exceeds `share` times all of it.
std::size_t draw(std::span<const double> values, double share) {
  double total = 0;
  for (const double value : values) total += value;
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] <= 0) continue;
    sum += values[i];
    last = i;
    if (sum > share * total) return i;
  }
  return last;
}

/// k-means++ over weighted points: of a few that are drawn for each place, the one that leaves the least sum of squared
/// distances. Local.
class PlusPlus {
 public:
  PlusPlus(const Centroids& points, std::vector<double> weights, std::uint64_t seed, int n_threads)
      : points_(points),
        weights_(std::move(weights)),
        random_(seed, kChoiceStream, 0),
        n_threads_(n_threads),
        distance_(points.size(), std::numeric_limits<double>::infinity()) {}

  Centroids choose(std::size_t n) {
    const double n_operations = static_cast<double>(points_.size()) * static_cast<double>(n * points_.n_features);
    const double n_usual = 2 + std::floor(portable_log(static_cast<double>(n)));
    const auto n_trials = static_cast<std::size_t>(std::clamp(kMostOperations / n_operations, 1.0, n_usual));
    Centroids chosen{points_.n_features, {}};
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t best = k == 0 ? draw(weights_, random_.uniform()) : best_of(n_trials);
      distance_ = distances_with(best);
      chosen.values.insert(chosen.values.end(), points_.of(best), points_.of(best) + points_.n_features);
    }
    return chosen;
  }

 private:
  std::size_t best_of(std::size_t n_trials) {
    const std::vector<double> costs = costs_of(distance_);
    std::pair<double, std::size_t> best{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t trial = 0; trial < n_trials; ++trial) {
      const std::size_t point = draw(costs, random_.uniform());
      double cost = 0;
      for (const double c : costs_of(distances_with(point))) cost += c;
      best = std::min(best, {cost, point});
    }
    return best.second;
  }

  std::vector<double> costs_of(const std::vector<double>& distance) const {
    std::vector<double> costs(distance.size());
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = weights_[i] * distance[i];
    return costs;
  }

  /// From the nearest of those that are chosen and `point`.
  std::vector<double> distances_with(std::size_t point) const {
    std::vector<double> distance = distance_;
    parallel_for_slices(n_threads_, distance.size(), 256, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < points_.n_features; ++j) {
          const double difference = double{points_.of(i)[j]} - double{points_.of(point)[j]};
          sum += difference * difference;
        }
        distance[i] = std::min(distance[i], sum);
      }
    });
    return distance;
  }

  const Centroids& points_;
  std::vector<double> weights_;
  RandomSequence random_;
  int n_threads_;
  std::vector<double> distance_;
};

}  // namespace

Centroids find_start(const ScaledRows& rows, std::size_t n, std::uint64_t seed, const comm::Communicator& comm,
                     int n_threads) {
  Candidates candidates(rows, seed, comm, n_threads);
  for (int pass = 0; pass < kPasses; ++pass) candidates.pick(kPicked * n);
  for (;;) {
    std::vector<double> weights = candidates.weights();
    // Of candidates that are equal all rows are nearest to the first.
    const auto n_different = std::ranges::count_if(weights, [](double weight) { return weight > 0; });
    if (static_cast<std::size_t>(n_different) >= n) {
      return PlusPlus(candidates.found(), std::move(weights), seed, n_threads).choose(n);
    }
    if (candidates.pick(kPicked * n)) continue;
    throw_input_error("clusters is {}, and the table has only {} different row{}: allowed is 1 to {}", n, n_different,
                      n_different == 1 ? "" : "s", n_different);
  }
}

}  // namespace podere::cluster
