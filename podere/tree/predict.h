// Predictions of boosted trees.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// Margins [n_outputs x n_rows] before any tree.
std::vector<float> start_margins(std::span<const double> base_margin, std::size_t n_rows);

/// Adds the values of trees[t] for all rows to output t % n_outputs of `margins` [n_outputs x n_rows]. `features`
/// [n_features of the model] are columns [n_rows].
void add_trees(std::span<const Tree> trees, std::size_t n_outputs, std::span<const std::span<const float>> features,
               int n_threads, std::span<float> margins);

/// Margins [n_outputs x n_rows], output by output, of the rows held here. Local.
std::vector<float> predict_margins(const Model& model, const table::Table& table, int n_threads);

/// What margins, given as `values` [n_outputs x n_rows], mean: the probability of class 1 (logistic),
/// probabilities that sum to 1 (softmax, probabilities) or need not (one-versus-all), the mean (Poisson), or the margin
/// itself (squared error, quantile).
std::vector<float> predictions_of(const Model& model, std::vector<float> values, int n_threads);

/// predictions_of predict_margins.
std::vector<float> predict(const Model& model, const table::Table& table, int n_threads);

}  // namespace podere::tree
