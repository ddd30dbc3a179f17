#include "podere/evaluate/histograms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "podere/base/error.h"
#include "podere/evaluate/rows.h"

namespace podere::evaluate {
namespace {

/// The bin of `x` of those of equal width from 0 to 1; the first and the last reach beyond.
std::size_t bin_of(double x, std::size_t n_bins) {
  const double last = static_cast<double>(n_bins - 1);
  return static_cast<std::size_t>(std::clamp(std::floor(x * static_cast<double>(n_bins)), 0.0, last));
}

/// Over all ranks.
std::vector<double> summed(const comm::Communicator& comm, std::vector<std::int64_t> units, const WeightUnit& unit) {
  comm.all_reduce(std::span(units), comm::Reduction::kSum);
  std::vector<double> weights;
  for (const std::int64_t n : units) weights.push_back(unit.weight(n));
  return weights;
}

}  // namespace

std::array<std::vector<double>, 2> score_histogram(const comm::Communicator& comm, std::span<const float> scores,
                                                   std::span<const float> labels, std::span<const float> weights,
                                                   std::size_t n_bins) {
  comm.agree([&] {
    check_rows(scores.size(), labels, weights);
    check_classes(labels, 2);
    for (const float score : scores) {
      if (!(score >= 0 && score <= 1)) throw_input_error("a score is {}: probabilities are from 0 to 1", score);
    }
  });
  const WeightUnit unit(comm, labels.size(), weights);
  std::array<std::vector<std::int64_t>, 2> units;
  for (auto& of_class : units) of_class.assign(n_bins, 0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    units[labels[i] == 1][bin_of(scores[i], n_bins)] += unit.units(weight_of(weights, i));
  }
  return {summed(comm, std::move(units[0]), unit), summed(comm, std::move(units[1]), unit)};
}

Histogram residual_histogram(const comm::Communicator& comm, std::span<const float> predictions,
                             std::span<const float> labels, std::span<const float> weights, double reach,
                             std::size_t n_bins) {
  comm.agree([&] {
    check_rows(predictions.size(), labels, weights);
    for (const float label : labels) {
      if (!std::isfinite(label)) throw_input_error("a label is {}: labels must be finite numbers", label);
    }
  });
  const WeightUnit unit(comm, labels.size(), weights);
  std::vector<std::int64_t> units(n_bins, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double residual = static_cast<double>(labels[i]) - static_cast<double>(predictions[i]);
    if (std::isnan(residual)) continue;  // of a prediction that is none
    units[bin_of(residual / (2 * reach) + 0.5, n_bins)] += unit.units(weight_of(weights, i));
  }
  return {-reach, reach, summed(comm, std::move(units), unit)};
}

}  // namespace podere::evaluate
