#include "podere/classify/picture_network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/printable.h"
#include "podere/graph/graph.h"

namespace podere::classify {
namespace {

bool is_count_of_channels(std::int64_t dimension) { return dimension == 1 || dimension == 3; }

/// The dimension of height or width, or what the user says it is.
std::uint32_t side_of(std::int64_t dimension, const char* what, const NetworkOptions& options) {
  if (dimension < 0 && options.size == 0) {
    throw_input_error("{}: takes pictures of any {}: --size says which, such as --size 224", options.path, what);
  }
  if (dimension >= 0 && options.size != 0 && dimension != options.size) {
    throw_input_error("--size is {}, the network takes pictures of {} {}", options.size, what, dimension);
  }
  return dimension < 0 ? options.size : static_cast<std::uint32_t>(dimension);
}

InputShape input_shape(const graph::Network& network, const NetworkOptions& options) {
  if (network.inputs().size() != 1) {
    throw_input_error("{}: has {} inputs, a network for pictures has one", options.path, network.inputs().size());
  }
  const graph::Port& input = network.inputs().front();
  const graph::Shape& shape = input.shape;
  const bool channels_first = shape.size() == 4 && is_count_of_channels(shape[1]);
  const bool channels_last = shape.size() == 4 && !channels_first && is_count_of_channels(shape[3]);
  if (!channels_first && !channels_last) {
    throw_input_error(
        "{}: its input {} is {}, that of a network for pictures is N x 3 x height x width, or with the channels last; "
        "1 channel is gray",
        options.path, printable(input.name), to_text(shape));
  }
  if (shape[0] > 1) {
    throw_input_error("{}: takes {} pictures at a time: export it for 1, or for any number (dynamic_axes of torch)",
                      options.path, shape[0]);
  }
  const std::size_t height = channels_first ? 2 : 1;
  return {.n_channels = static_cast<std::uint32_t>(channels_first ? shape[1] : shape[3]),
          .height = side_of(shape[height], "height", options),
          .width = side_of(shape[height + 1], "width", options),
          .is_channels_last = channels_last};
}

graph::PlanOptions plan_options(const NetworkOptions& options, const graph::Network& network, const InputShape& shape) {
  graph::PlanOptions plan;
  plan.input = {1, shape.n_channels, shape.height, shape.width};
  if (shape.is_channels_last) plan.input = {1, shape.height, shape.width, shape.n_channels};
  if (!options.layer.empty()) {
    plan.outputs = {options.layer};
  } else if (network.outputs().size() != 1) {
    std::vector<std::string> names;
    for (const graph::Port& output : network.outputs()) names.push_back(output.name);
    throw_input_error("{}: has the outputs {}: --layer says which of them has the scores", options.path,
                      printable_list(names));
  }
  return plan;
}

NamedPreprocessing find_preprocessing(const NetworkOptions& options, const InputShape& shape) {
  if (!options.preprocess.empty()) return {options.preprocess, preprocessing_of(options.preprocess, shape)};
  const std::string beside = std::filesystem::path(options.path).replace_extension(".json").string();
  if (std::filesystem::exists(beside)) return {beside, preprocessing_of(beside, shape)};
  throw_input_error(
      "{}: the file does not say how values of pictures come to it: --preprocess imagenet (as torchvision's networks), "
      "inception (-1 to 1), unit (0 to 1), raw (0 to 255), or a JSON file, which is found by itself as {}",
      options.path, beside);
}

/// The operator that makes the numbers of the tensor, whose shape may have been changed since; empty: none that is
/// known.
std::string operator_behind(const graph::Graph& graph, std::string tensor) {
  constexpr std::array<std::string_view, 6> kSameNumbers = {"Flatten", "Identity",  "Reshape",
                                                            "Squeeze", "Unsqueeze", "Dropout"};
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->outputs.empty() || node->outputs.front() != tensor) continue;
    if (std::ranges::find(kSameNumbers, node->type) == kSameNumbers.end() || node->inputs.empty()) return node->type;
    tensor = node->inputs.front();
  }
  return "";
}

std::size_t n_elements(const graph::Shape& shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

/// How many classes the plan's output has scores for. Throws InputError for what is no list of scores.
std::size_t count_classes(const graph::Plan& plan, const std::string& path) {
  const graph::Port& output = plan.outputs().front();
  if (std::ranges::count_if(output.shape, [](std::int64_t size) { return size > 1; }) != 1) {
    throw_input_error(
        "{}: {} is {}, that of a network for classes is 1 x classes, of 2 or more; --layer chooses another tensor",
        path, printable(output.name), to_text(output.shape));
  }
  return n_elements(output.shape);
}

}  // namespace

struct PictureNetwork::Parts {
  NetworkOptions options;
  graph::Network network;
  InputShape shape;
  NamedPreprocessing preprocessing;

  static Parts read(const NetworkOptions& options) {
    graph::Network network = graph::read_onnx(options.path);
    const InputShape shape = input_shape(network, options);
    return {options, std::move(network), shape, find_preprocessing(options, shape)};
  }
};

PictureNetwork::PictureNetwork(const NetworkOptions& options) : PictureNetwork(Parts::read(options)) {}

PictureNetwork::PictureNetwork(const Parts& parts)
    : preparer_(parts.preprocessing.preprocessing, parts.shape, parts.preprocessing.name),
      plan_(parts.network, plan_options(parts.options, parts.network, parts.shape)),
      n_classes_(count_classes(plan_, parts.options.path)) {
  const std::string last = operator_behind(parts.network.graph(), plan_.outputs().front().name);
  needs_softmax_ = last != "Softmax" && last != "Sigmoid";
  facts_ = {{"path", parts.options.path},
            {"sha256", graph::sha256_of_network(parts.options.path, parts.network)},
            {"producer", parts.network.facts().producer},
            {"parameters", parts.network.facts().n_parameters},
            {"input", to_text(plan_.input())},
            {"classes", n_classes_},
            {"scores", needs_softmax_      ? "softmax of the output"
                       : last == "Softmax" ? "output, which is a softmax"
                                           : "output, a sigmoid for each class"},
            {"preprocessing", parts.preprocessing.name},
            {"preprocessing_fields", json_of_all_fields(parts.preprocessing.preprocessing)}};
}

PictureNetwork::Lane PictureNetwork::new_lane() const {
  return {graph::Workspace(plan_), std::vector<float>(preparer_.n_values()), std::vector<float>(n_classes_)};
}

std::span<const float> PictureNetwork::run(Lane& lane) const {
  const std::span<float> scores(lane.scores);
  graph::run(plan_, lane.workspace, lane.input, std::span(&scores, 1));
  return scores;
}

}  // namespace podere::classify
