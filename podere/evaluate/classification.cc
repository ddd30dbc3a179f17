#include "podere/evaluate/classification.h"

#include <algorithm>
#include <cmath>

#include "podere/base/error.h"
#include "podere/base/portable_math.h"
#include "podere/evaluate/rows.h"

namespace podere::evaluate {
namespace {

/// The loss of a row whose true class was given this probability.
double loss_of(double probability) {
  constexpr double kLeast = 1e-15;
  return -portable_log(std::clamp(probability, kLeast, 1 - kLeast));
}

}  // namespace

double log_loss(const comm::Communicator& comm, std::span<const float> probabilities, std::span<const float> labels,
                std::span<const float> weights) {
  comm.agree([&] {
    check_rows(probabilities.size(), labels, weights);
    check_classes(labels, 2);
  });
  return weighted_mean(comm, labels.size(), weights, [&](std::size_t i) {
    const double p = probabilities[i];
    return loss_of(labels[i] == 1 ? p : 1 - p);
  });
}

double multi_log_loss(const comm::Communicator& comm, std::span<const float> probabilities, std::size_t n_classes,
                      std::span<const float> labels, std::span<const float> weights) {
  comm.agree([&] {
    if (n_classes == 0 || probabilities.size() != n_classes * labels.size()) {
      throw_input_error("{} probabilities were given for {} labels of {} classes", probabilities.size(), labels.size(),
                        n_classes);
    }
    check_rows(labels.size(), labels, weights);
    check_classes(labels, n_classes);
  });
  const std::size_t n = labels.size();
  return weighted_mean(comm, n, weights, [&](std::size_t i) {
    return loss_of(probabilities[static_cast<std::size_t>(labels[i]) * n + i]);
  });
}

double ConfusionMatrix::accuracy() const {
  double right = 0;
  double all = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    if (i / n_classes == i % n_classes) right += counts[i];
  }
  return right / all;
}

ConfusionMatrix confusion_matrix(const comm::Communicator& comm, std::span<const std::int32_t> predicted,
                                 std::size_t n_classes, std::span<const float> labels, std::span<const float> weights) {
  comm.agree([&] {
    check_rows(predicted.size(), labels, weights);
    check_classes(labels, n_classes);
    for (const std::int32_t k : predicted) {
      if (k < 0 || static_cast<std::size_t>(k) >= n_classes) {
        throw_input_error("class {} is predicted: there are {} classes, from 0", k, n_classes);
      }
    }
  });
  const WeightUnit unit(comm, labels.size(), weights);
  std::vector<std::int64_t> units(n_classes * n_classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    units[static_cast<std::size_t>(labels[i]) * n_classes + static_cast<std::size_t>(predicted[i])] +=
        unit.units(weight_of(weights, i));
  }
  comm.all_reduce(std::span(units), comm::Reduction::kSum);
  ConfusionMatrix matrix{n_classes, std::vector<double>(units.size())};
  std::transform(units.begin(), units.end(), matrix.counts.begin(), [&](std::int64_t n) { return unit.weight(n); });
  return matrix;
}

std::vector<std::int32_t> predicted_classes(std::span<const float> probabilities, std::size_t n_classes,
                                            std::size_t n_rows) {
  const bool one_column = n_classes == 2 && probabilities.size() == n_rows;
  if (!one_column && (n_classes == 0 || probabilities.size() != n_classes * n_rows)) {
    throw_input_error("{} probabilities were given for {} rows of {} classes", probabilities.size(), n_rows, n_classes);
  }
  std::vector<std::int32_t> predicted(n_rows, 0);
  if (one_column) {
    for (std::size_t i = 0; i < n_rows; ++i) predicted[i] = probabilities[i] >= 0.5F;
    return predicted;
  }
  for (std::size_t i = 0; i < n_rows; ++i) {
    for (std::size_t k = 1; k < n_classes; ++k) {
      const auto best = static_cast<std::size_t>(predicted[i]);
      if (probabilities[k * n_rows + i] > probabilities[best * n_rows + i]) predicted[i] = static_cast<std::int32_t>(k);
    }
  }
  return predicted;
}

}  // namespace podere::evaluate
