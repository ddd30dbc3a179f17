#include "podere/table/standardize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "podere/base/error.h"
#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"

namespace podere::table {
namespace {

/// Of the finite values of every feature. One vector for each number, so that it goes in one all_reduce.
struct FeatureMoments {
  explicit FeatureMoments(std::size_t n_features)
      : minimum(n_features, std::numeric_limits<float>::infinity()),
        maximum(n_features, -std::numeric_limits<float>::infinity()),
        n_finite(n_features, 0),
        sum(n_features) {}

  void take(std::size_t j, std::span<const float> values) {
    float least = minimum[j];
    float largest = maximum[j];
    std::uint64_t n = 0;
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      largest = std::max(largest, value);
      sum[j].add(value);
      ++n;
    }
    minimum[j] = least;
    maximum[j] = largest;
    n_finite[j] = n;
  }

  void sum_over_ranks(const comm::Communicator& comm) {
    comm.all_reduce(std::span(minimum), comm::Reduction::kMin);
    comm.all_reduce(std::span(maximum), comm::Reduction::kMax);
    comm.all_reduce(std::span(n_finite), comm::Reduction::kSum);
    comm::all_reduce(comm, sum);
  }

  std::vector<float> minimum;
  std::vector<float> maximum;
  std::vector<std::uint64_t> n_finite;
  std::vector<ExactSum> sum;
};

/// The sum of the squares of what finite values are away from `mean`.
ExactSum squares_about(double mean, std::span<const float> values) {
  ExactSum sum;
  for (const float value : values) {
    if (std::isfinite(value)) sum.add((value - mean) * (value - mean));
  }
  return sum;
}

void check(const Scaling& scaling, const Schema& schema) {
  const std::size_t n = schema.features.size();
  if (scaling.mean.size() != n || scaling.scale.size() != n) {
    throw_input_error("a scaling of {} means and {} scales for {} features", scaling.mean.size(), scaling.scale.size(),
                      n);
  }
  for (std::size_t j = 0; j < n; ++j) {
    if (std::isfinite(scaling.mean[j]) && std::isfinite(scaling.scale[j]) && scaling.scale[j] > 0) continue;
    throw_input_error("a scaling by (x - {}) / {} of the feature '{}'; both numbers must be finite, the second above 0",
                      scaling.mean[j], scaling.scale[j], schema.features[j]);
  }
}

}  // namespace

Scaling measure_scaling(const Table& table, const comm::Communicator& comm, int n_threads) {
  std::vector<std::span<const float>> columns;
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    columns.push_back(table.schema().is_categorical(j) ? std::span<const float>() : table.feature(j));
  }
  return measure_scaling(columns, comm, n_threads);
}

Scaling measure_scaling(std::span<const std::span<const float>> columns, const comm::Communicator& comm,
                        int n_threads) {
  const std::size_t n = columns.size();
  Scaling scaling{.mean = std::vector<double>(n, 0), .scale = std::vector<double>(n, 1)};
  FeatureMoments moments(n);
  parallel_for(n_threads, n, [&](std::size_t j, int) { moments.take(j, columns[j]); });
  moments.sum_over_ranks(comm);

  // A mean that is rounded would give equal values a scale that is next to nothing.
  const auto varies = [&](std::size_t j) { return moments.minimum[j] < moments.maximum[j]; };
  std::vector<ExactSum> squares(n);
  parallel_for(n_threads, n, [&](std::size_t j, int) {
    if (moments.n_finite[j] == 0) return;
    scaling.mean[j] = varies(j) ? moments.sum[j].value() / static_cast<double>(moments.n_finite[j])
                                : moments.minimum[j] + 0.0F;  // -0 becomes +0: which is first depends on the ranks
    if (varies(j)) squares[j] = squares_about(scaling.mean[j], columns[j]);
  });
  comm::all_reduce(comm, squares);
  for (std::size_t j = 0; j < n; ++j) {
    if (varies(j)) scaling.scale[j] = std::sqrt(squares[j].value() / static_cast<double>(moments.n_finite[j]));
  }
  return scaling;
}

void standardize(Table& table, const Scaling& scaling, int n_threads) {
  check(scaling, table.schema());
  const std::size_t n_slices = (table.n_rows() + kGrainRows - 1) / kGrainRows;
  parallel_for(n_threads, table.n_features() * n_slices, [&](std::size_t task, int) {
    const std::size_t j = task / n_slices;
    if (table.schema().is_categorical(j)) return;
    const std::size_t begin = task % n_slices * kGrainRows;
    const double mean = scaling.mean[j];
    const double scale = scaling.scale[j];
    for (float& value : table.feature(j).subspan(begin, std::min(kGrainRows, table.n_rows() - begin))) {
      value = static_cast<float>((value - mean) / scale);
    }
  });
}

}  // namespace podere::table
