// podere model: what is in a model file.
#include "podere/tree/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "podere/cli/arguments.h"
#include "podere/cli/print.h"
#include "podere/session/model.h"

namespace podere::cli {
namespace {

struct ModelOptions {
  OutputOptions output;
  std::string model;
};

void define_model(CLI::App& app, ModelOptions& options) {
  add_model_argument(app, options.model);
  add_output_options(app, options.output);
  app.footer("Example: podere model model.json");
}

/// Features by falling gain.
std::vector<std::size_t> by_gain(const tree::Importance& importance) {
  std::vector<std::size_t> order(importance.gain.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t j) { return importance.gain[j]; });
  return order;
}

int show_trees(const ModelOptions& options, const tree::Model& model) {
  const tree::Importance importance = tree::importance(model);
  std::size_t n_nodes = 0;
  for (const auto& tree : model.trees) n_nodes += tree.nodes.size();

  nlohmann::ordered_json features = nlohmann::ordered_json::array();
  TextTable table({"feature", "gain", "splits", "cover"});
  for (const std::size_t j : by_gain(importance)) {
    const std::string& name = model.schema.features[j];
    features.push_back({{"name", name},
                        {"gain", importance.gain[j]},
                        {"splits", importance.split[j]},
                        {"cover", importance.cover[j]}});
    table.add({name, number(importance.gain[j]), with_commas(importance.split[j]), number(importance.cover[j])});
  }
  const std::string objective = tree::to_string(model.options.objective);
  if (options.output.json) {
    print_json({{"objective", objective},
                {"rounds", model.n_rounds()},
                {"trees", model.trees.size()},
                {"nodes", n_nodes},
                {"label", model.schema.label.value_or("")},
                {"features", features}});
  } else {
    print(facts_text({{"objective", objective},
                      {"trees", with_commas(model.trees.size())},
                      {"nodes", with_commas(n_nodes)},
                      {"features", with_commas(model.schema.features.size())}}));
    print("\n" + table.text());
  }
  return kDone;
}

int show_network(const ModelOptions& options, const neural::Model& model) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  TextTable table({"layer", "inputs", "outputs", "activation", "weights"});
  for (std::size_t l = 0; l < model.layout.n_layers(); ++l) {
    const neural::Layer& layer = model.layout.layer(l);
    const std::string activation =
        l + 1 < model.layout.n_layers() ? to_string(model.options.activation) : output_activation(model.options.loss);
    const std::size_t n_weights = (layer.n_inputs + 1) * layer.n_outputs;
    layers.push_back(
        {{"inputs", layer.n_inputs}, {"outputs", layer.n_outputs}, {"activation", activation}, {"weights", n_weights}});
    table.add({std::to_string(l + 1), with_commas(layer.n_inputs), with_commas(layer.n_outputs), activation,
               with_commas(n_weights)});
  }
  const std::string loss = neural::to_string(model.options.loss);
  const std::string optimiser = neural::to_string(model.options.optimiser);
  if (options.output.json) {
    print_json({{"objective", loss},
                {"optimiser", optimiser},
                {"epochs", model.history.train_loss.size()},
                {"weights", model.layout.n_weights()},
                {"label", model.schema.label.value_or("")},
                {"features", model.schema.features},
                {"layers", layers}});
  } else {
    print(facts_text({{"objective", loss},
                      {"optimiser", optimiser},
                      {"epochs", with_commas(model.history.train_loss.size())},
                      {"weights", with_commas(model.layout.n_weights())},
                      {"features", with_commas(model.schema.features.size())}}));
    print("\n" + table.text());
  }
  return kDone;
}

int run_model(const ModelOptions& options) {
  const session::Model model = session::model_from_text(tree::read_model_text(options.model), options.model);
  if (const auto* network = std::get_if<neural::Model>(&model)) return show_network(options, *network);
  return show_trees(options, std::get<tree::Model>(model));
}

}  // namespace

void add_model(CLI::App& app, Command& chosen) {
  add_command<ModelOptions>(app, chosen, "model", "Show a model: what its features do for it, or its layers",
                            define_model, run_model);
}

}  // namespace podere::cli
