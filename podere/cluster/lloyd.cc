#include "podere/cluster/lloyd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"

namespace podere::cluster {
namespace {

constexpr double kRounding = 0x1p-24;
constexpr float kUp = 1 + 0x1p-22F;  // more than a sum of two float32 is off by rounding
constexpr float kDown = 1 - 0x1p-22F;

/// By how much the computed distance of a row may be off, relative to it.
double distance_error(std::size_t n_features) { return (static_cast<double>(n_features) + 8) * kRounding; }

/// Half the squares of the centroids' norms.
std::vector<float> half_squares(const Centroids& centroids) {
  std::vector<float> halves;
  for (std::size_t k = 0; k < centroids.size(); ++k) {
    double sum = 0;
    for (const float x : std::span(centroids.of(k), centroids.n_features)) sum += double{x} * double{x};
    halves.push_back(static_cast<float>(sum / 2));
  }
  return halves;
}

}  // namespace

Lloyd::Lloyd(const ScaledRows& rows, const SumUnits& units, Centroids start, const comm::Communicator& comm,
             int n_threads)
    : rows_(rows),
      units_(units),
      comm_(comm),
      n_threads_(n_threads),
      centroids_(std::move(start)),
      nearest_(rows.n_rows(), -1),
      upper_(rows.n_rows(), std::numeric_limits<float>::infinity()),
      lower_(rows.n_rows(), 0),
      moved_(centroids_.size(), 0),
      others_moved_(centroids_.size(), 0),
      sums_(centroids_.size() * (centroids_.n_features + 1), 0),
      changes_(static_cast<std::size_t>(n_threads)) {}

Iteration Lloyd::iterate() {
  Iteration done{.n_moved = find_clusters()};
  if (done.n_moved == 0) return done;
  const std::vector<double> movement = move_centroids();
  for (const double distance : movement) done.shift += distance * distance;
  note_movement(movement);
  if (fill_empty_clusters()) done.shift = std::numeric_limits<double>::infinity();
  return done;
}

std::uint64_t Lloyd::find_clusters() {
  for (auto& changes : changes_) changes.assign(sums_.size() + 1, 0);
  half_squares_ = half_squares(centroids_);
  parallel_for_slices(n_threads_, rows_.n_rows(), kSliceRows,
                      [&](std::size_t begin, std::size_t end, int thread) { assign(begin, end, thread); });
  std::vector<std::int64_t> total = std::move(changes_.front());
  for (auto& changes : std::span(changes_).subspan(1)) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += changes[i];
  }
  comm_.all_reduce(std::span(total), comm::Reduction::kSum);
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += total[i];
  std::ranges::fill(moved_, 0.0F);  // bounds are up to date
  std::ranges::fill(others_moved_, 0.0F);
  return static_cast<std::uint64_t>(total.back());
}

/// Of rows [begin, end), which are all of this thread: those whose bounds do not say which centroid is nearest.
void Lloyd::assign(std::size_t begin, std::size_t end, int thread) {
  std::array<std::size_t, kTileRows> waiting;
  std::size_t n_waiting = 0;
  HugeArray<float> tile(rows_.n_features() * kTileRows);
  for (std::size_t i = begin; i < end; ++i) {
    if (nearest_[i] >= 0) {
      const auto k = static_cast<std::size_t>(nearest_[i]);
      upper_[i] = (upper_[i] + moved_[k]) * kUp;
      lower_[i] = (lower_[i] - others_moved_[k]) * kDown;
      if (upper_[i] < lower_[i]) continue;
    }
    waiting[n_waiting++] = i;
    if (n_waiting < kTileRows) continue;
    assign_tile(waiting, tile.data(), thread);
    n_waiting = 0;
  }
  if (n_waiting > 0) assign_tile(std::span(waiting).first(n_waiting), tile.data(), thread);
}

void Lloyd::assign_tile(std::span<const std::size_t> rows, float* tile, int thread) {
  std::vector<std::int64_t>& changes = changes_[static_cast<std::size_t>(thread)];
  const std::size_t n_sums = centroids_.n_features + 1;
  const auto error = static_cast<float>(distance_error(centroids_.n_features));
  rows_.pack(rows, tile);
  NearestOfTile found;
  find_nearest_here(tile, found);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i];
    upper_[row] = std::sqrt(found.distance[i]) * (1 + error);
    lower_[row] = std::sqrt(found.second[i]) * (1 - error);
    const std::int32_t before = std::exchange(nearest_[row], found.nearest[i]);
    if (before == nearest_[row]) continue;
    const auto sums_of = [&](std::int32_t k) { return changes.data() + static_cast<std::size_t>(k) * n_sums; };
    const float weight = rows_.weight(row);
    if (before >= 0) units_.add(tile + i, kTileRows, weight, -1, sums_of(before));
    units_.add(tile + i, kTileRows, weight, 1, sums_of(nearest_[row]));
    ++changes.back();
  }
}

/// The nearest centroids, and distances that are bounds.
void Lloyd::find_nearest_here(const float* tile, NearestOfTile& found) const {
  const float* const centroids = centroids_.values.data();
  const bool is_sure =
      find_nearest_by_products(tile, centroids_.n_features, centroids, half_squares_.data(), centroids_.size(), found);
  if (!is_sure) find_nearest(tile, centroids_.n_features, centroids, centroids_.size(), found);
}

/// To the means of their rows; how far each moved [n], rounded up. One without rows stays.
std::vector<double> Lloyd::move_centroids() {
  std::vector<double> movement(centroids_.size(), 0);
  const std::size_t n_features = centroids_.n_features;
  for (std::size_t k = 0; k < centroids_.size(); ++k) {
    const std::int64_t* const sums = sums_.data() + k * (n_features + 1);
    if (units_.weight(sums) <= 0) continue;
    double square_sum = 0;
    for (std::size_t j = 0; j < n_features; ++j) {
      const float before = std::exchange(centroids_.of(k)[j], units_.mean(sums, j));
      const double difference = double{centroids_.of(k)[j]} - double{before};
      square_sum += difference * difference;
    }
    movement[k] = std::sqrt(square_sum) * (1 + distance_error(n_features));
  }
  return movement;
}

void Lloyd::note_movement(const std::vector<double>& movement) {
  double most = 0;
  double second = 0;
  for (const double distance : movement) {
    second = std::max(second, std::min(most, distance));
    most = std::max(most, distance);
  }
  for (std::size_t k = 0; k < movement.size(); ++k) {
    moved_[k] = static_cast<float>(movement[k]) * kUp;
    others_moved_[k] = static_cast<float>(movement[k] == most ? second : most) * kUp;
  }
}

/// Whether there were any. Rare, so bounds begin anew.
bool Lloyd::fill_empty_clusters() {
  bool is_filled = false;
  for (std::size_t k = 0; k < centroids_.size(); ++k) {
    const bool is_empty = units_.weight(sums_.data() + k * (centroids_.n_features + 1)) <= 0;
    if (is_empty && fill(k)) is_filled = true;
  }
  if (is_filled) std::ranges::fill(lower_, 0.0F);
  return is_filled;
}

/// Moves a centroid onto the row that is farthest from its own; false where every row lies on one. Collective.
bool Lloyd::fill(std::size_t cluster) {
  std::vector<double> farthest(rows_.n_rows());
  for_each_nearest(rows_, centroids_, n_threads_,
                   [&](std::size_t begin, std::size_t end, const NearestOfTile& found, int) {
                     for (std::size_t i = begin; i < end; ++i) {
                       farthest[i] = rows_.weight(i) > 0 ? double{found.distance[i - begin]} : 0;
                     }
                   });
  const auto best = std::ranges::max_element(farthest);
  const double distance = comm_.all_reduce(best == farthest.end() ? -1.0 : *best, comm::Reduction::kMax);
  if (distance <= 0) return false;
  const bool has_it = best != farthest.end() && *best == distance;
  const auto place = static_cast<std::size_t>(best - farthest.begin());
  const std::uint64_t mine = has_it ? rows_.global(place).value : std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t row = comm_.all_reduce(mine, comm::Reduction::kMin);
  const std::vector<float> values =
      comm_.all_gather_v(std::span<const float>(row == mine ? rows_.values(place) : std::vector<float>()));
  std::ranges::copy(values, centroids_.of(cluster));
  return true;
}

std::vector<double> Lloyd::weights() const {
  std::vector<double> weights;
  for (std::size_t k = 0; k < centroids_.size(); ++k) {
    weights.push_back(units_.weight(sums_.data() + k * (centroids_.n_features + 1)));
  }
  return weights;
}

void for_each_nearest(
    const ScaledRows& rows, const Centroids& centroids, int n_threads,
    const std::function<void(std::size_t begin, std::size_t end, const NearestOfTile& nearest, int thread)>& use) {
  parallel_for_slices(n_threads, rows.n_rows(), kSliceRows, [&](std::size_t first, std::size_t last, int thread) {
    HugeArray<float> tile(rows.n_features() * kTileRows);
    NearestOfTile found;
    for (std::size_t begin = first; begin < last; begin += kTileRows) {
      const std::size_t end = std::min(begin + kTileRows, last);
      rows.pack(begin, end, tile.data());
      find_nearest(tile.data(), centroids.n_features, centroids.values.data(), centroids.size(), found);
      use(begin, end, found, thread);
    }
  });
}

double inertia(const ScaledRows& rows, const Centroids& centroids, const comm::Communicator& comm, int n_threads) {
  std::vector<ExactSum> of_thread(static_cast<std::size_t>(n_threads));
  for_each_nearest(rows, centroids, n_threads,
                   [&](std::size_t begin, std::size_t end, const NearestOfTile& found, int thread) {
                     double sum = 0;  // tiles begin at the same rows on any number of ranks
                     for (std::size_t i = begin; i < end; ++i) {
                       sum += double{rows.weight(i)} * double{found.distance[i - begin]};
                     }
                     of_thread[static_cast<std::size_t>(thread)].add(sum);
                   });
  ExactSum total;
  for (const ExactSum& sum : of_thread) total.add(sum);
  comm::all_reduce(comm, std::span(&total, 1));
  return total.value();
}

}  // namespace podere::cluster
