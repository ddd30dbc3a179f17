#include "podere/session/model.h"

#include <utility>

#include "podere/base/error.h"
#include "podere/neural/labels.h"
#include "podere/neural/predict.h"
#include "podere/tree/labels.h"
#include "podere/tree/predict.h"

namespace podere::session {

Model model_from_text(const std::string& text, const std::string& name) {
  if (neural::is_network_text(text)) return neural::from_text(text, name);
  return tree::from_text(text, name);
}

const table::Schema& schema_of(const Model& model) {
  return std::visit([](const auto& m) -> const table::Schema& { return m.schema; }, model);
}

std::size_t n_outputs_of(const Model& model) {
  return std::visit([](const auto& m) { return m.n_outputs(); }, model);
}

std::string objective_of(const Model& model) {
  if (const auto* trees = std::get_if<tree::Model>(&model)) return tree::to_string(trees->options.objective);
  return neural::to_string(std::get<neural::Model>(model).options.loss);
}

table::LabelRules label_rules_of(const Model& model) {
  table::LabelRules rules = std::visit([](const auto& m) { return label_rules(m.options); }, model);
  rules.class_weight.clear();
  return rules;
}

std::vector<float> margins_of(const Model& model, const table::Table& table, int n_threads) {
  if (const auto* trees = std::get_if<tree::Model>(&model)) return tree::predict_margins(*trees, table, n_threads);
  return neural::predict_outputs(std::get<neural::Model>(model), table, n_threads);
}

std::vector<float> predictions_of(const Model& model, std::vector<float> margins, int n_threads) {
  return std::visit([&](const auto& m) { return predictions_of(m, std::move(margins), n_threads); }, model);
}

std::string load_shared_text(const std::string& path, const comm::Communicator& comm) {
  std::string text;
  comm.agree([&] {
    if (comm.is_root()) text = tree::read_model_text(path);
  });
  return comm.broadcast_text(std::move(text));
}

Model load_shared_model(const std::string& path, const comm::Communicator& comm, std::size_t rounds) {
  const std::string text = load_shared_text(path, comm);
  Model model;
  comm.agree([&] { model = model_from_text(text, path); });
  if (rounds == 0) return model;
  if (std::holds_alternative<neural::Model>(model)) {
    throw_input_error("rounds is {}, but {} is a network, which has none", rounds, path);
  }
  auto& trees = std::get<tree::Model>(model);
  if (rounds > trees.n_rounds()) throw_input_error("rounds is {}, the model {} has {}", rounds, path, trees.n_rounds());
  trees.trees.resize(rounds * trees.n_outputs());
  return model;
}

const tree::Model& need_trees(const Model& model, const std::string& path) {
  if (const auto* trees = std::get_if<tree::Model>(&model)) return *trees;
  throw_input_error("{}: is a network, this is for boosted trees", path);
}

const neural::Model& need_network(const Model& model, const std::string& path) {
  if (const auto* network = std::get_if<neural::Model>(&model)) return *network;
  throw_input_error("{}: is of boosted trees, not a network", path);
}

}  // namespace podere::session
