// What the measures of this room share: checks of their input, weighted means.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "podere/base/exact_sum.h"
#include "podere/comm/communicator.h"
#include "podere/comm/exact_reduce.h"
#include "podere/comm/weight_unit.h"

namespace podere::evaluate {

/// Throws InputError if `n_values` predictions do not fit `labels`, or if `weights` is neither empty nor as long as
/// `labels`, or has a value that is not finite. Local.
void check_rows(std::size_t n_values, std::span<const float> labels, std::span<const float> weights);

/// Throws InputError for a label that is not one of 0, 1, ..., n_classes - 1. Local.
void check_classes(std::span<const float> labels, std::size_t n_classes);

inline float weight_of(std::span<const float> weights, std::size_t row) { return weights.empty() ? 1 : weights[row]; }

using comm::WeightUnit;

/// (sum over rows of weight * value(row)) / (sum of weights), the same bits for any number of ranks; NaN for a sum
/// of 0. Collective.
template <typename Value>
double weighted_mean(const comm::Communicator& comm, std::size_t n_rows, std::span<const float> weights,
                     const Value& value) {
  std::array<ExactSum, 2> sums;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double weight = weight_of(weights, i);
    sums[0].add(weight * value(i));
    sums[1].add(weight);
  }
  comm::all_reduce(comm, sums);
  return sums[0].value() / sums[1].value();
}

}  // namespace podere::evaluate
