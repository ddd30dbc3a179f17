// How far predicted numbers are from the labels. All functions are collective and give every rank the same bits,
// whatever the number of ranks; each rank passes the rows it holds (perhaps none). `predictions` and `labels` [n];
// `weights` is empty (all 1) or as long, and may be negative. NaN where the weights sum to 0. Throws InputError on all
// ranks for labels out of their set, and for spans that do not fit each other.
#pragma once

#include <span>

#include "podere/comm/communicator.h"

namespace podere::evaluate {

/// Square root of the weighted mean of squared differences. Labels are finite.
double root_mean_squared_error(const comm::Communicator& comm, std::span<const float> predictions,
                               std::span<const float> labels, std::span<const float> weights);

/// R²: 1 minus the mean of squared differences, in the variance of the labels. 0 is what their mean predicts; NaN where
/// all labels are equal. Labels are finite.
double r2(const comm::Communicator& comm, std::span<const float> predictions, std::span<const float> labels,
          std::span<const float> weights);

/// Weighted mean of |y - p|. Labels are finite.
double mean_absolute_error(const comm::Communicator& comm, std::span<const float> predictions,
                           std::span<const float> labels, std::span<const float> weights);

/// Weighted mean of 2 (y log(y / p) - y + p), where 0 log 0 = 0. Labels are finite and at least 0; a prediction of 0
/// for a label above 0 costs infinitely much.
double mean_poisson_deviance(const comm::Communicator& comm, std::span<const float> predictions,
                             std::span<const float> labels, std::span<const float> weights);

/// Weighted mean of max(q (y - p), (q - 1) (y - p)), which the quantile q of the labels makes least. Labels are finite,
/// 0 < q < 1.
double pinball_loss(const comm::Communicator& comm, std::span<const float> predictions, std::span<const float> labels,
                    std::span<const float> weights, double quantile);

}  // namespace podere::evaluate
