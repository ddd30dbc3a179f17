// Sums of rows by cluster, exact, so that rows may come and go in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/cluster/scaled_rows.h"

namespace podere::cluster {

/// How values and weights become whole numbers, whose sums do not depend on order. A value is rounded to a multiple of
/// the 2^-40th part of what its feature has at most, or of less fine a part where there are more than 2^22 rows: of
/// float32 it keeps all that a mean can show.
class SumUnits {
 public:
  /// `bound` as of Spread; `max_weight` over all ranks, above 0.
  SumUnits(std::span<const double> bound, double max_weight, std::uint64_t n_global_rows);

  std::size_t n_features() const { return per_value_.size(); }
  /// Adds `sign` (1 or -1) times a row to the sums of its cluster, [n_features] and the weight. `values` are
  /// `stride` apart.
  void add(const float* values, std::size_t stride, float weight, std::int64_t sign, std::int64_t* sums) const;
  double weight(const std::int64_t* sums) const;
  /// The mean of the rows that were added, whose weight must be above 0.
  float mean(const std::int64_t* sums, std::size_t feature) const;

 private:
  std::vector<double> per_value_;  // [n_features]
  double per_weight_;
};

}  // namespace podere::cluster
