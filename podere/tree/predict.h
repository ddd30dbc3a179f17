// Predictions of boosted trees.
#pragma once

#include <span>
#include <vector>

#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// Where the model's features stand in `schema`, found by name [n_features of the model]. Where all names of a
/// table are made up (f0, f1, ... of a source without a header) on either side, features are taken in order.
/// Throws InputError that names the features which are not there.
std::vector<std::size_t> match_features(const Model& model, const table::Schema& schema);

/// Margins [n_outputs x n_rows], output by output, of the rows held here. Local.
std::vector<float> predict_margins(const Model& model, const table::Table& table, int n_threads);

/// As predict_margins, then the probability of class 1 (logistic), probabilities that sum to 1 (softmax), or the
/// margin itself (squared error).
std::vector<float> predict(const Model& model, const table::Table& table, int n_threads);

}  // namespace podere::tree
