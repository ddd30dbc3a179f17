// Sums of weights over executors that are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "podere/comm/communicator.h"

namespace podere::comm {

/// Weights as whole numbers of a unit, a power of two so small that the sum of all weights, negative ones counted as
/// positive, just stays below 2^62. Sums are exact from there on. Weights within a factor of 2^38 / n_rows of the
/// largest, and equal weights of 1 always, are whole without a rest; the rest of smaller ones is cut off.
class WeightUnit {
 public:
  /// Collective: every rank finds the same unit. Weights must be finite; empty: `n_rows` of 1.
  WeightUnit(const Communicator& comm, std::size_t n_rows, std::span<const float> weights);

  std::int64_t units(float weight) const { return static_cast<std::int64_t>(weight * per_weight_); }
  double weight(std::int64_t units) const { return static_cast<double>(units) / per_weight_; }

 private:
  double per_weight_;
};

}  // namespace podere::comm
