#include "podere/evaluate/regression.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

double root_mean_squared_error(const comm::Communicator& comm, std::span<const float> predictions,
                               std::span<const float> labels, std::span<const float> weights) {
  return std::sqrt(mean_loss(comm, predictions, labels, weights, false, [](double label, double prediction) {
    return (prediction - label) * (prediction - label);
  }));
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
