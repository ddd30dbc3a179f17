#include "podere/classify/picture_layer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/printable.h"
#include "podere/base/sha256.h"
#include "podere/graph/graph.h"

namespace podere::classify {
namespace {

/// "--size", or "size=" of a location.
std::string option(const NetworkOptions& options, std::string_view name) {
  return options.is_in_location ? fmt::format("{}=", name) : fmt::format("--{}", name);
}
/// "--size 224", or "size=224" of a location.
std::string option(const NetworkOptions& options, std::string_view name, std::string_view value) {
  return fmt::format("{}{}{}", option(options, name), options.is_in_location ? "" : " ", value);
}

bool is_count_of_channels(std::int64_t dimension) { return dimension == 1 || dimension == 3; }

/// The dimension of height or width, or what the user says it is.
std::uint32_t side_of(std::int64_t dimension, const char* what, const NetworkOptions& options) {
  if (dimension < 0 && options.size == 0) {
    throw_input_error("{}: takes pictures of any {}: {} says which, such as {}", options.path, what,
                      option(options, "size"), option(options, "size", "224"));
  }
  if (dimension >= 0 && options.size != 0 && dimension != options.size) {
    throw_input_error("{} is {}, the network takes pictures of {} {}", options.is_in_location ? "size" : "--size",
                      options.size, what, dimension);
  }
  return dimension < 0 ? options.size : static_cast<std::uint32_t>(dimension);
}

/// To be printed.
std::string first_names(std::span<const graph::Port> ports) {
  constexpr std::size_t kMost = 4, kMostBytes = 80;
  std::vector<std::string> names;
  for (const graph::Port& port : ports.first(std::min(ports.size(), kMost))) {
    names.push_back(printable_line(port.name, kMostBytes));
  }
  if (ports.size() > kMost) names.emplace_back("...");
  return fmt::format("{}", fmt::join(names, ", "));
}

InputShape input_shape(const graph::Network& network, const NetworkOptions& options) {
  if (network.inputs().size() != 1) {
    throw_input_error("{}: has {} inputs ({}), a network for pictures has one", options.path, network.inputs().size(),
                      first_names(network.inputs()));
  }
  const graph::Port& input = network.inputs().front();
  const graph::Shape& shape = input.shape;
  const bool channels_first = shape.size() == 4 && is_count_of_channels(shape[1]);
  const bool channels_last = shape.size() == 4 && !channels_first && is_count_of_channels(shape[3]);
  if (!channels_first && !channels_last) {
    throw_input_error(
        "{}: its input {} is {}, that of a network for pictures is N x 3 x height x width, or with the channels last; "
        "1 channel is gray",
        options.path, printable(input.name), graph::to_text(shape));
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
    throw_input_error("{}: has the outputs {}: {} says which of them {}", options.path, printable_list(names),
                      option(options, "layer"), options.is_in_location ? "to take" : "has the scores");
  }
  return plan;
}

NamedPreprocessing find_preprocessing(const NetworkOptions& options, const InputShape& shape) {
  if (!options.preprocess.empty()) return {options.preprocess, preprocessing_of(options.preprocess, shape)};
  const std::string beside = preprocessing_file_of(options.path);
  if (std::filesystem::exists(beside)) return {beside, preprocessing_of(beside, shape)};
  throw_input_error(
      "{}: the file does not say how values of pictures come to it: {} (as torchvision's networks), inception (-1 to "
      "1), unit (0 to 1), raw (0 to 255), or a JSON file, which is found by itself as {}",
      options.path, option(options, "preprocess", "imagenet"), beside);
}

/// The operator that makes the numbers of the tensor, whose shape may have been changed since; empty: none that is
/// known.
std::string find_operator_behind(const graph::Graph& graph, std::string tensor) {
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

}  // namespace

std::string preprocessing_file_of(const std::string& model) {
  return std::filesystem::path(model).replace_extension(".json").string();
}

struct PictureLayer::Parts {
  NetworkOptions options;
  graph::Network network;
  InputShape shape;
  NamedPreprocessing preprocessing;
  std::string digest;

  static Parts read(const NetworkOptions& options) {
    const std::string before = sha256_of_file(options.path);
    graph::Network network = graph::read_onnx(options.path);
    const std::string digest = graph::sha256_of_network(options.path, network);
    if (network.facts().weight_files.empty() && digest != before) {
      throw_input_error("{}: changed while it was read: try again", options.path);
    }
    const InputShape shape = input_shape(network, options);
    NamedPreprocessing preprocessing = find_preprocessing(options, shape);
    if (options.bits != 0) preprocessing.preprocessing.bits = options.bits;
    return {options, std::move(network), shape, std::move(preprocessing), digest};
  }
};

PictureLayer::PictureLayer(const NetworkOptions& options) : PictureLayer(Parts::read(options)) {}

PictureLayer::PictureLayer(const Parts& parts)
    : n_bits_(parts.preprocessing.preprocessing.bits),
      preparer_(parts.preprocessing.preprocessing, parts.shape, parts.preprocessing.name),
      plan_(parts.network, plan_options(parts.options, parts.network, parts.shape)),
      input_port_{parts.network.inputs().front().name, plan_.input()},
      n_values_(n_elements(plan_.outputs().front().shape)),
      operator_behind_(find_operator_behind(parts.network.graph(), plan_.outputs().front().name)) {
  const Json fields = json_of_all_fields(parts.preprocessing.preprocessing);
  facts_ = {{"path", parts.options.path},
            {"sha256", parts.digest},
            {"producer", parts.network.facts().producer},
            {"parameters", parts.network.facts().n_parameters},
            {"input", graph::to_text(plan_.input())},
            {"preprocessing", parts.preprocessing.name},
            {"preprocessing_fields", fields}};
  fingerprint_ = sha256_of(SortedJson{
      {"network", parts.digest},
      {"input", plan_.input()},
      {"layer", output().name},
      {"preprocessing",
       SortedJson(fields)}}.dump());
}

std::string PictureLayer::feature_name(std::size_t i) const {
  constexpr std::size_t kShownDigits = 8;  // two networks of a user do not share them by chance
  return fmt::format("feature{}@{}", i + 1, fingerprint_.substr(0, kShownDigits));
}

PictureLayer::Lane PictureLayer::new_lane() const {
  return {graph::Workspace(plan_), std::vector<float>(preparer_.n_values()), std::vector<float>(n_values_)};
}

std::span<const float> PictureLayer::run(Lane& lane) const {
  const std::span<float> values(lane.values);
  graph::run(plan_, lane.workspace, lane.input, std::span(&values, 1));
  return values;
}

}  // namespace podere::classify
