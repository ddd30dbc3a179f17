// Exact weighted quantiles of values spread over executors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/parallel.h"
#include "podere/comm/communicator.h"
#include "podere/table/weighted_labels.h"

namespace podere::tree {

/// Values and their weights, in whole units that on all ranks sum, without their signs, to less than 2^63.
struct WeightedValues {
  std::span<const float> values;          ///< [n], none of them NaN
  std::span<const std::int64_t> weights;  ///< [n], may be negative
};

/// The quantile q, 0 < q < 1, of each group: the value v that the group holds on some rank for which the weights of
/// values up to v reach q W and those below v do not, where W is the group's sum of weights; 0 where W <= 0. Such a
/// v makes the pinball loss least. It is the only one unless there are negative weights; then there may be several,
/// of which the same is found always. Group i holds values `groups[i]` here, perhaps none; there are as many groups
/// on all ranks. -0 counts as 0. Collective: for each 4096 groups four all_reduces of 2 KiB per group.
std::vector<float> weighted_quantiles(const WeightedValues& all, std::span<const Slice> groups, double q,
                                      const comm::Communicator& comm, int n_threads);

/// Weights of rows as such units, of which `n_global_rows` just sum below 2^62. Weights within a factor of
/// 2^38 / n_global_rows of the largest, and equal weights of 1 always, are whole; the rest of others is cut off.
std::vector<std::int64_t> weights_in_units(const table::LabeledRows& rows, std::uint64_t n_global_rows);

}  // namespace podere::tree
