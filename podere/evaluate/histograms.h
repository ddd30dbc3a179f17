// Histograms of predictions, for pictures. All functions are collective and give every rank the same bits, whatever the
// number of ranks; each rank passes the rows it holds (perhaps none). `weights` is empty (all 1) or as long as
// `labels`, and may be negative. Throws InputError on all ranks for labels out of their set, and for spans that do not
// fit each other.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"

namespace podere::evaluate {

/// Sums of weights of class 0 and of class 1, each [n_bins], by predicted probability of class 1: bins of equal width
/// from 0 to 1, each with its lower edge, the last with both. `labels` [n] are 0 or 1. Throws InputError on all ranks
/// for a score that is not from 0 to 1.
std::array<std::vector<double>, 2> score_histogram(const comm::Communicator& comm, std::span<const float> scores,
                                                   std::span<const float> labels, std::span<const float> weights,
                                                   std::size_t n_bins);

/// Sums of weights in bins of equal width from `low` to `high`. What lies beyond counts in the outer bins.
struct Histogram {
  double low = 0;
  double high = 0;
  std::vector<double> weights;  ///< [n_bins]
};

/// Of label - prediction, as far as `reach` (finite, above 0) to both sides. Labels are finite.
Histogram residual_histogram(const comm::Communicator& comm, std::span<const float> predictions,
                             std::span<const float> labels, std::span<const float> weights, double reach,
                             std::size_t n_bins);

}  // namespace podere::evaluate
