#include "podere/neural/step_summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/json_fields.h"

namespace podere::neural {
namespace {

using algorithm::GraphNode;

constexpr std::size_t kSummariesPerEpoch = 20;  // unless the user says how many steps lie between them
/// Of a tag; a sample of more. Source: tensorboard --helpfull, --samples_per_plugin.
constexpr std::size_t kShownHistograms = 500;

/// Operators as TensorFlow names them, in a box for each layer.
std::vector<GraphNode> graph_of(const Options& options, const Layout& layout) {
  std::vector<GraphNode> nodes;
  const auto add = [&](const std::string& name, const std::string& op, std::vector<std::string> inputs,
                       std::vector<std::size_t> shape) {
    nodes.push_back({name, op, std::move(inputs), {shape.begin(), shape.end()}});
  };
  const auto add_rows = [&](const std::string& name, const std::string& op, std::vector<std::string> inputs,
                            std::size_t n_columns) {
    add(name, op, std::move(inputs), {n_columns});
    nodes.back().shape.insert(nodes.back().shape.begin(), -1);
  };
  const std::size_t n_features = layout.n_features();
  add_rows("features", "Placeholder", {}, n_features);
  if (options.standardize) {
    add("scaling/mean", "Const", {}, {n_features});
    add("scaling/scale", "Const", {}, {n_features});
    add_rows("scaling/difference", "Sub", {"features", "scaling/mean"}, n_features);
    add_rows("scaling/quotient", "RealDiv", {"scaling/difference", "scaling/scale"}, n_features);
  }
  for (std::size_t l = 0; l < layout.n_layers(); ++l) {
    const Layer& layer = layout.layer(l);
    const std::string box = fmt::format("layer_{}/", l + 1);
    const std::string inputs = nodes.back().name;
    const std::string activation =
        l + 1 == layout.n_layers() ? output_activation(options.loss) : to_string(options.activation);
    add(box + "weights", "Variable", {}, {layer.n_inputs, layer.n_outputs});
    add(box + "biases", "Variable", {}, {layer.n_outputs});
    add_rows(box + "product", "MatMul", {inputs, box + "weights"}, layer.n_outputs);
    add_rows(box + "sum", "BiasAdd", {box + "product", box + "biases"}, layer.n_outputs);
    if (activation == "identity") continue;
    std::string op = activation;
    op[0] = static_cast<char>(std::toupper(op[0]));
    add_rows(box + activation, op, {box + "sum"}, layer.n_outputs);
  }
  return nodes;
}

}  // namespace

void StepSummaries::note(const AfterStep& after) {
  if (!summaries_.are_wanted()) return;
  if (!std::exchange(has_begun_, true)) begin(after);
  loss_ += after.loss * static_cast<double>(after.n_new_steps);
  n_steps_ += static_cast<double>(after.n_new_steps);
  const std::size_t apart = summaries_.steps_apart() > 0
                                ? summaries_.steps_apart()
                                : std::max<std::size_t>(after.steps_per_epoch / kSummariesPerEpoch, 1);
  if (after.has_passed(apart)) {
    std::vector<std::pair<std::string, double>> scalars = {{"loss", loss_ / n_steps_}};
    if (after.learning_rate > 0) scalars.emplace_back("learning_rate", after.learning_rate);
    loss_ = n_steps_ = 0;
    summaries_.scalars(after.n_steps, scalars);
  }
  if (after.is_epoch_over) note_epoch(after);
}

void StepSummaries::begin(const AfterStep& after) {
  const auto n_epochs = static_cast<std::size_t>(after.options.epochs);
  epochs_apart_ = (n_epochs + kShownHistograms - 1) / kShownHistograms;
  summaries_.begin(after.n_steps - after.n_new_steps, json_of_all_fields(after.options));
  summaries_.graph(graph_of(after.options, after.layout));
}

void StepSummaries::note_epoch(const AfterStep& after) {
  if (after.quality) {
    std::vector<std::pair<std::string, double>> scalars = {{"validation_loss", after.quality->loss}};
    if (after.quality->accuracy) scalars.emplace_back("validation_accuracy", *after.quality->accuracy);
    if (after.quality->auc) scalars.emplace_back("validation_auc", *after.quality->auc);
    summaries_.scalars(after.n_steps, scalars);
  }
  if (after.n_steps / after.steps_per_epoch % epochs_apart_ != 0) return;
  for (std::size_t l = 0; l < after.layout.n_layers(); ++l) {
    const WeightsAndBiases values = weights_and_biases(after.layout.layer(l), after.weights);
    const std::string box = fmt::format("layer_{}/", l + 1);
    summaries_.histogram(after.n_steps, box + "weights", values.weights);
    summaries_.histogram(after.n_steps, box + "biases", values.biases);
  }
}

}  // namespace podere::neural
