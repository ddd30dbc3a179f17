// Why a model predicts what it does: SHAP values of boosted trees.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// The margins [n_outputs] that the model expects of a row of which nothing is known: averages over its training rows,
/// by cover, of each tree.
std::vector<double> shap_bias(const Model& model);

/// SHAP values of rows [begin, end): the share of each feature in the margin, in its unit, and shap_bias, which
/// together sum to the margin. `features` [n_features of the model] are columns; `values` [end - begin x n_outputs x
/// (n_features + 1)] are set, row by row, the bias at the end of each output.
///
/// These are the Shapley values of the game in which a feature that is not in the coalition is averaged over: where a
/// tree splits on it, both children count, by their covers (path-dependent TreeSHAP). Covers below 0 count as 0; where
/// both children have none, one half each. A row's values depend on the row and the model alone. One thread.
/// Throws InputError if the model has splits but no covers, linear parts, or a node with two parents.
///
/// Source: Lundberg et al., Nature Machine Intelligence 2 (2020); the sum over coalitions is done as an integral, see
/// shap.cc. Time per row: nodes x ceil(d / 8), d the most features on a path; memory for one tree.
void shap_values(const Model& model, std::span<const std::span<const float>> features, std::size_t begin,
                 std::size_t end, std::span<double> values);

/// As above for all rows held here [n_rows x n_outputs x (n_features + 1)], with columns found as by feature_columns.
/// Local.
std::vector<double> shap_values(const Model& model, const table::Table& table, int n_threads);

}  // namespace podere::tree
