// Labels and weights: what is allowed, and what they say before any tree is grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/weighted_labels.h"
#include "podere/tree/gradient.h"
#include "podere/tree/options.h"

namespace podere::tree {

using table::WeightedLabels;

/// What the objective allows, with the weights of classes.
table::LabelRules label_rules(const Options& options);

/// The sum of weights of each class, over all ranks. Collective.
std::vector<double> class_sums(const LabeledRows& rows, std::size_t n_classes, const comm::Communicator& comm);

/// class_weight that gives all classes with rows the same sum of weights, and leaves the sum over all as it is.
/// [number of classes] Collective. Throws InputError, on all ranks, as weigh_labels, or where a class's weights sum to
/// less than 0.
std::vector<double> balanced_class_weights(const table::Table& table, std::span<const std::uint8_t> is_training,
                                           const Options& options, const comm::Communicator& comm);

/// table::weigh_labels by label_rules. Collective. Throws as that.
WeightedLabels weigh_labels(const table::Table& table, std::span<const std::uint8_t> is_used, std::uint8_t used,
                            const Options& options, const char* what, const comm::Communicator& comm);

/// n_classes as given, or the largest label plus one. Throws InputError for softmax labels that are no class numbers.
int count_classes(const table::Table& table, const Options& options, const comm::Communicator& comm);

/// That of base_score, or the margins that fit best without trees: log odds, logarithms of class shares, the mean, its
/// logarithm or the quantile. [n_outputs] Throws InputError, on all ranks, where fewer than two classes have rows or a
/// Poisson mean is not above 0.
std::vector<double> base_margins(const LabeledRows& rows, const Options& options, const comm::Communicator& comm);

}  // namespace podere::tree
