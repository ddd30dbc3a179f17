// A model of any kind, as jobs use it.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/neural/model.h"
#include "podere/table/weighted_labels.h"
#include "podere/tree/model.h"

namespace podere::session {

using Model = std::variant<tree::Model, neural::Model>;

/// The model of a file's content, by its format. Throws InputError, beginning with `name`, as tree::from_text and
/// neural::from_text.
Model model_from_text(const std::string& text, const std::string& name);

const table::Schema& schema_of(const Model& model);
std::size_t n_outputs_of(const Model& model);
/// What training made least: "logistic", "cross-entropy", ...
std::string objective_of(const Model& model);
/// The labels that rows may have which the model is judged by; weights of classes are a matter of training.
table::LabelRules label_rules_of(const Model& model);

/// Margins of trees, outputs before the last activation of networks [n_outputs x n_rows]. Local. Throws InputError for
/// a table without the model's features.
std::vector<float> margins_of(const Model& model, const table::Table& table, int n_threads);
/// What margins stand for.
std::vector<float> predictions_of(const Model& model, std::vector<float> margins, int n_threads);

/// The content of a file that rank 0 can read, on all ranks. Collective. Throws InputError on all ranks.
std::string load_shared_text(const std::string& path, const comm::Communicator& comm);

/// The model of a file that rank 0 can read, on all ranks; of trees the first `rounds` only, or all for 0. Collective.
/// Throws InputError on all ranks, for rounds of a network too.
Model load_shared_model(const std::string& path, const comm::Communicator& comm, std::size_t rounds = 0);

/// The model of `path`, which must be of boosted trees. Throws InputError, "{path}: ...", where it is not.
const tree::Model& need_trees(const Model& model, const std::string& path);
/// The same for networks.
const neural::Model& need_network(const Model& model, const std::string& path);

}  // namespace podere::session
