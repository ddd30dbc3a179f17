#include "podere/evaluate/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/portable_math.h"
#include "podere/evaluate/rows.h"

namespace podere::evaluate {
namespace {

/// The weighted mean of loss(label, prediction). Collective.
template <typename Loss>
double mean_loss(const comm::Communicator& comm, std::span<const float> predictions, std::span<const float> labels,
                 std::span<const float> weights, bool is_count, const Loss& loss) {
  comm.agree([&] {
    check_rows(predictions.size(), labels, weights);
    for (const float label : labels) {
      if (std::isfinite(label) && !(is_count && label < 0)) continue;
      throw_input_error("a label is {}: labels must be finite numbers{}", label, is_count ? ", 0 or more" : "");
    }
  });
  return weighted_mean(comm, labels.size(), weights, [&](std::size_t i) {
    return loss(static_cast<double>(labels[i]), static_cast<double>(predictions[i]));
  });
}

double squared_difference(double label, double prediction) { return (prediction - label) * (prediction - label); }

}  // namespace

double root_mean_squared_error(const comm::Communicator& comm, std::span<const float> predictions,
                               std::span<const float> labels, std::span<const float> weights) {
  return std::sqrt(mean_loss(comm, predictions, labels, weights, false, squared_difference));
}

double r2(const comm::Communicator& comm, std::span<const float> predictions, std::span<const float> labels,
          std::span<const float> weights) {
  const double squared_error = mean_loss(comm, predictions, labels, weights, false, squared_difference);
  const double mean = weighted_mean(comm, labels.size(), weights, [&](std::size_t i) { return labels[i]; });
  const double variance =
      weighted_mean(comm, labels.size(), weights, [&](std::size_t i) { return squared_difference(labels[i], mean); });
  const double rounding = 2 * std::numeric_limits<double>::epsilon() * mean;  // of the mean of equal labels
  return variance > rounding * rounding ? 1 - squared_error / variance : std::numeric_limits<double>::quiet_NaN();
}

double mean_absolute_error(const comm::Communicator& comm, std::span<const float> predictions,
                           std::span<const float> labels, std::span<const float> weights) {
  return mean_loss(comm, predictions, labels, weights, false,
                   [](double label, double prediction) { return std::abs(prediction - label); });
}

double mean_poisson_deviance(const comm::Communicator& comm, std::span<const float> predictions,
                             std::span<const float> labels, std::span<const float> weights) {
  return mean_loss(comm, predictions, labels, weights, true, [](double label, double prediction) {
    const double log_part = label > 0 ? label * (portable_log(label) - portable_log(prediction)) : 0.0;
    return 2 * (log_part - label + prediction);
  });
}

double pinball_loss(const comm::Communicator& comm, std::span<const float> predictions, std::span<const float> labels,
                    std::span<const float> weights, double quantile) {
  return mean_loss(comm, predictions, labels, weights, false, [&](double label, double prediction) {
    const double residual = label - prediction;
    return std::max(quantile * residual, (quantile - 1) * residual);
  });
}

}  // namespace podere::evaluate
