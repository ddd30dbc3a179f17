// Predictions of dense networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/neural/model.h"
#include "podere/neural/rows.h"
#include "podere/table/table.h"

namespace podere::neural {

/// Outputs before the last activation [n_outputs x n_rows], output by output, of the rows held here; of squared-error
/// in the unit of the labels. Local. Throws InputError that names the features which are not there or have categories,
/// and for values that are not finite.
std::vector<float> predict_outputs(const Model& model, const table::Table& table, int n_threads);

/// What outputs, given as `values` [n_outputs x n_rows], mean: the probability of class 1 (binary cross-entropy),
/// probabilities that sum to 1 (cross-entropy), or the number itself.
std::vector<float> predictions_of(const Model& model, std::vector<float> values, int n_threads);

/// predictions_of predict_outputs.
std::vector<float> predict(const Model& model, const table::Table& table, int n_threads);

/// Outputs [n_outputs x picked.size()] of some rows, by their places in `rows`; labels as they are learned.
std::vector<float> outputs_of_rows(const Layout& layout, const Options& options, std::span<const float> weights,
                                   const FeatureRows& rows, std::span<const std::uint32_t> picked, int n_threads);

}  // namespace podere::neural
