#include "podere/session/tensorboard_summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/base/error.h"

namespace podere::session {
namespace {

using io::EventFile;
using io::GraphNode;

constexpr std::size_t kSummariesPerEpoch = 20;  // unless the user says how many steps lie between them
/// Of a tag; a sample of more. Source: tensorboard --helpfull, --samples_per_plugin.
constexpr std::size_t kShownHistograms = 500;

EventFile::Moment moment_of(std::size_t n_steps) {
  const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {static_cast<std::int64_t>(n_steps), since_1970.count()};
}

/// A table in Markdown.
template <typename Options>
std::string options_text(const Options& options) {
  std::string text = "| option | value |\n|---|---|\n";
  Options::visit_fields(options, [&](const char* name, const auto& value) {
    const Json json = json_of(value);
    text += fmt::format("| {} | {} |\n", name,
                        json.is_null()     ? ""
                        : json.is_string() ? json.get<std::string>()
                                           : to_text(json));
  });
  return text;
}

/// Operators as TensorFlow names them, in a box for each layer.
std::vector<GraphNode> graph_of(const neural::Options& options, const neural::Layout& layout) {
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
  if (options.standardise) {
    add("scaling/mean", "Const", {}, {n_features});
    add("scaling/scale", "Const", {}, {n_features});
    add_rows("scaling/difference", "Sub", {"features", "scaling/mean"}, n_features);
    add_rows("scaling/quotient", "RealDiv", {"scaling/difference", "scaling/scale"}, n_features);
  }
  for (std::size_t l = 0; l < layout.n_layers(); ++l) {
    const neural::Layer& layer = layout.layer(l);
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

TensorboardSummaries::TensorboardSummaries(const TrainJob& job, const comm::Communicator& comm, Progress& progress)
    : job_(job), progress_(progress), is_on_(!job.tensorboard.empty() && comm.is_root()) {
  comm.agree([&] {
    if (is_on_) has_files_ = io::check_event_folder(job.tensorboard);
  });
}

void TensorboardSummaries::tell_round(const ProgressStep& step) {
  if (step.phase != "train") return;
  if (!std::exchange(has_begun_, true)) {
    begin(step.done);
    write([&](EventFile& file) { file.text(moment_of(0), "options", options_text(job_.options)); });
    return;
  }
  if (step.metrics.empty() || step.done % std::max<std::size_t>(job_.summary_steps, 1) != 0) return;
  write([&](EventFile& file) { file.scalars(moment_of(step.done), step.metrics); });
}

void TensorboardSummaries::tell_step(const neural::AfterStep& after) {
  if (!is_on_) return;
  if (!std::exchange(has_begun_, true)) begin_network(after);
  loss_ += after.loss * static_cast<double>(after.n_taken);
  n_steps_ += static_cast<double>(after.n_taken);
  const std::size_t apart = job_.summary_steps > 0
                                ? job_.summary_steps
                                : std::max<std::size_t>(after.steps_per_epoch / kSummariesPerEpoch, 1);
  if (after.has_passed(apart)) {
    std::vector<std::pair<std::string, double>> scalars = {{"loss", loss_ / n_steps_}};
    if (after.learning_rate > 0) scalars.emplace_back("learning_rate", after.learning_rate);
    loss_ = n_steps_ = 0;
    write([&](EventFile& file) { file.scalars(moment_of(after.n_steps), scalars); });
  }
  if (after.is_epoch_over) tell_epoch(after);
}

void TensorboardSummaries::begin_network(const neural::AfterStep& after) {
  const auto n_epochs = static_cast<std::size_t>(after.options.epochs);
  epochs_apart_ = (n_epochs + kShownHistograms - 1) / kShownHistograms;
  begin(after.n_steps - after.n_taken);
  write([&](EventFile& file) { file.text(moment_of(0), "options", options_text(after.options)); });
  write([&](EventFile& file) { file.graph(moment_of(0).wall_time, graph_of(after.options, after.layout)); });
}

void TensorboardSummaries::begin(std::size_t n_steps) {
  if (has_files_) write([&](EventFile& file) { file.resume(moment_of(n_steps)); });
}

void TensorboardSummaries::tell_epoch(const neural::AfterStep& after) {
  const EventFile::Moment at = moment_of(after.n_steps);
  if (after.quality) {
    std::vector<std::pair<std::string, double>> scalars = {{"validation_loss", after.quality->loss}};
    if (after.quality->accuracy) scalars.emplace_back("validation_accuracy", *after.quality->accuracy);
    if (after.quality->auc) scalars.emplace_back("validation_auc", *after.quality->auc);
    write([&](EventFile& file) { file.scalars(at, scalars); });
  }
  if (after.n_steps / after.steps_per_epoch % epochs_apart_ != 0) return;
  for (std::size_t l = 0; l < after.layout.n_layers(); ++l) {
    const neural::WeightsAndBiases values = neural::weights_and_biases(after.layout.layer(l), after.weights);
    const std::string box = fmt::format("layer_{}/", l + 1);
    write([&](EventFile& file) { file.histogram(at, box + "weights", values.weights); });
    write([&](EventFile& file) { file.histogram(at, box + "biases", values.biases); });
  }
}

void TensorboardSummaries::write(const std::function<void(EventFile& file)>& tell) {
  if (!is_on_) return;
  try {
    if (!file_) file_.emplace(job_.tensorboard, moment_of(0).wall_time);
    tell(*file_);
  } catch (const Error& error) {
    if (std::exchange(has_warned_, true)) return;
    progress_.warn(fmt::format("not all can be written for TensorBoard: {}; training goes on", error.what()));
  }
}

}  // namespace podere::session
