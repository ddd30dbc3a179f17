// How good predictions are. All functions are collective and give every rank the same bits, whatever the number of
// ranks; each rank passes the rows it holds (perhaps none). `weights` is empty (all 1) or as long as `labels`, and may
// be negative. Throws InputError on all ranks for labels out of their set, and for spans that do not fit each other.
// Plain one-rank references of all of them are in classification_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"

namespace podere::evaluate {

/// Weighted mean of -log(probability of the true class), of two classes. `probabilities` [n] are of class 1,
/// `labels` [n] are 0 or 1. Probabilities are clamped to [1e-15, 1 - 1e-15].
double log_loss(const comm::Communicator& comm, std::span<const float> probabilities, std::span<const float> labels,
                std::span<const float> weights);

/// As log_loss for n_classes classes. `probabilities` [n_classes x n], class by class; `labels` [n] in 0 ..
/// n_classes-1.
double multi_log_loss(const comm::Communicator& comm, std::span<const float> probabilities, std::size_t n_classes,
                      std::span<const float> labels, std::span<const float> weights);

/// counts[true_class * n_classes + predicted_class] is the sum of weights. `predicted` [n] are class numbers.
struct ConfusionMatrix {
  std::size_t n_classes = 0;
  std::vector<double> counts;
  double accuracy() const;
};
ConfusionMatrix confusion_matrix(const comm::Communicator& comm, std::span<const std::int32_t> predicted,
                                 std::size_t n_classes, std::span<const float> labels, std::span<const float> weights);

/// The predicted class of each row: class 1 where its probability is at least 1/2 (n_classes 2, `probabilities` [n]),
/// or the class of the largest probability, the lowest such class (`probabilities` [n_classes x n]).
std::vector<std::int32_t> predicted_classes(std::span<const float> probabilities, std::size_t n_classes,
                                            std::size_t n_rows);

/// A point of the ROC curve: rows with score >= threshold count as class 1.
struct RocPoint {
  double threshold;
  double false_positive_rate;
  double true_positive_rate;
};

/// The ROC curve and the area under it. Exact: every distinct score is looked at, ties count one half.
struct Roc {
  double auc = 0;                ///< NaN where one class has no weight
  std::vector<RocPoint> points;  ///< from (0, 0) to (1, 1)
};

/// `scores` [n], higher for class 1; probabilities or margins. At most `max_points` points are returned, evenly
/// thinned along the curve, each of them exact. Throws InputError on all ranks for a NaN score.
Roc roc(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
        std::span<const float> weights, std::size_t max_points);

/// roc(...).auc without the points.
double auc(const comm::Communicator& comm, std::span<const float> scores, std::span<const float> labels,
           std::span<const float> weights);

}  // namespace podere::evaluate
