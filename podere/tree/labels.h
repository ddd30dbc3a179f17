// Labels and weights: what is allowed, and what they say before any tree is grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/gradient.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// Throws InputError, "{what} data: label of row ...", for a label that the objective does not allow.
void check_label(float label, table::GlobalRow row, const Options& options, const char* what);

/// Labels with the weights that count for one purpose.
struct WeightedLabels {
  std::vector<float> weight;  ///< [n_rows]; 0 where a row is not used
  LabelledRows rows;          ///< its spans point into `weight` and into the table
};

/// class_weight that gives all classes with rows the same sum of weights, and leaves the sum over all as it is.
/// [number of classes] Collective. Throws InputError, on all ranks, as weigh_labels, or where a class's weights sum to
/// less than 0.
std::vector<double> balanced_class_weights(const table::Table& table, std::span<const std::uint8_t> is_training,
                                           const Options& options, const comm::Communicator& comm);

/// The labels of the rows with `is_used` [n_rows] == `used`, or all if `is_used` is empty, with weights of rows times
/// those of their classes. Collective. Throws InputError, on all ranks, if the table has no label, a label is not one
/// that `objective` allows, a weight is not finite, or the weights do not sum to more than zero. `what` names the table
/// in messages ("training", "validation").
WeightedLabels weigh_labels(const table::Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const Options& options, const char* what, const comm::Communicator& comm);

/// n_classes as given, or the largest label plus one. Throws InputError for softmax labels that are no class numbers.
int count_classes(const table::Table& table, const Options& options, const comm::Communicator& comm);

/// That of base_score, or the margins that fit best without trees: log odds, logarithms of class shares, the mean, its
/// logarithm or the quantile. [n_outputs] Throws InputError, on all ranks, where fewer than two classes have rows or a
/// Poisson mean is not above 0.
std::vector<double> base_margins(const LabelledRows& rows, const Options& options, const comm::Communicator& comm);

}  // namespace podere::tree
