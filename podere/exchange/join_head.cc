#include "podere/exchange/join_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "podere/base/atomic_file.h"
#include "podere/base/cannot_read.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"
#include "podere/exchange/format.h"
#include "podere/exchange/onnx_graph.h"
#include "podere/neural/algorithm.h"
#include "podere/neural/model.h"
#include "podere/tree/algorithm.h"

namespace podere::exchange {
namespace {

constexpr std::int64_t kWeightsAreNoInputs = 4;  // from this version of the format on

/// Throws InputError for a head that is no network for classes.
const neural::Model& head_of(const algorithm::Model& model) {
  if (tree::trees_of(model) != nullptr) {
    throw InputError(
        "trees cannot be joined with a network, networks can: train the head by podere train mlp or nn, or apply the "
        "trees by podere predict to images:FOLDER?model=");
  }
  const neural::Model* const head = neural::network_of(model);
  if (head == nullptr) throw_input_error("{} cannot be joined with a network: train mlp or nn", model.what());
  if (head->options.loss == neural::Loss::kSquaredError) {
    throw InputError("the head predicts numbers, and what is joined finds classes");
  }
  return *head;
}

/// Which of the layer's values each feature is. Throws InputError for features of something else.
std::vector<std::size_t> places_of(const table::Schema& schema, const classify::PictureLayer& layer) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < layer.n_values(); ++i) places[layer.feature_name(i)] = i;
  std::vector<std::size_t> found;
  for (const std::string& feature : schema.features) {
    const auto place = places.find(feature);
    if (place == places.end()) {
      throw_input_error(
          "the head learned {}, and the features here are {} to {}: give the network, layer, size and preprocessing of "
          "its training",
          feature, layer.feature_name(0), layer.feature_name(layer.n_values() - 1));
    }
    found.push_back(place->second);
  }
  return found;
}

onnx::ModelProto read_file(const std::string& path) {
  onnx::ModelProto file;
  std::ifstream content(path, std::ios::binary);
  if (!file.ParseFromIstream(&content)) throw_cannot_read(path);
  for (const auto& weight : file.graph().initializer()) {
    if (weight.data_location() != onnx::TensorProto::EXTERNAL) continue;
    throw_input_error(
        "{}: has weights in files beside it: save it as one file first, in Python by onnx.save(onnx.load("
        "'FILE'), 'ONE.onnx')",
        path);
  }
  return file;
}

/// Removes what is not needed to make the tensor of the input `picture`.
void keep_what_makes(const std::string& tensor, const std::string& picture, onnx::GraphProto& graph) {
  std::set<std::string> needed = {tensor};
  std::vector<bool> keeps(static_cast<std::size_t>(graph.node_size()));
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto& node = graph.node(i);
    const bool keep =
        std::ranges::any_of(node.output(), [&](const std::string& name) { return needed.contains(name); });
    if (keep) needed.insert(node.input().begin(), node.input().end());
    keeps[static_cast<std::size_t>(i)] = keep;
  }
  std::size_t i = 0;
  graph.mutable_node()->erase(std::remove_if(graph.mutable_node()->begin(), graph.mutable_node()->end(),
                                             [&](const onnx::NodeProto& /*node*/) { return !keeps[i++]; }),
                              graph.mutable_node()->end());
  auto& weights = *graph.mutable_initializer();
  weights.erase(std::remove_if(weights.begin(), weights.end(),
                               [&](const onnx::TensorProto& weight) { return !needed.contains(weight.name()); }),
                weights.end());
  // Of files of old, inputs list weights too, and a weight that is no input is not allowed in them.
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const onnx::ValueInfoProto& input) { return input.name() != picture; }),
               inputs.end());
  graph.clear_value_info();
  graph.clear_output();
}

/// The picture's height and width, which the file may leave open.
void set_input_shape(const graph::Shape& shape, onnx::GraphProto& graph) {
  auto& dimensions = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
  for (int i = 1; i < dimensions.size(); ++i) dimensions[i].set_dim_value(shape.at(static_cast<std::size_t>(i)));
}

/// What the names that are new begin with, and no other does: the network may have been joined with a head before.
std::string new_prefix(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
  for (const auto& weight : graph.initializer()) names.insert(weight.name());
  std::string prefix = "podere_head_";
  const auto is_used = [&] {
    const auto first = names.lower_bound(prefix);
    return first != names.end() && first->starts_with(prefix);
  };
  for (int k = 2; is_used(); ++k) prefix = "podere_head_" + std::to_string(k) + "_";
  return prefix;
}

/// Adds operators, each to the output of the one before.
class Chain {
 public:
  Chain(onnx::GraphProto& graph, std::string begin)
      : graph_(graph), prefix_(new_prefix(graph)), last_(std::move(begin)) {}

  template <typename T>
  std::string constant(const std::string& name, std::initializer_list<std::size_t> shape, std::span<const T> values) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(prefix_ + name);
    tensor.set_data_type(std::is_same_v<T, float> ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64);
    for (const std::size_t n : shape) tensor.add_dims(static_cast<std::int64_t>(n));
    tensor.set_raw_data(values.data(), values.size_bytes());
    return tensor.name();
  }

  onnx::NodeProto& add(const std::string& type, const std::string& name, const std::vector<std::string>& others = {}) {
    onnx::NodeProto& node = add_op(graph_, "", type, {last_}, {prefix_ + name});
    for (const std::string& other : others) node.add_input(other);
    last_ = prefix_ + name;
    return node;
  }

  const std::string& last() const { return last_; }

 private:
  onnx::GraphProto& graph_;
  const std::string prefix_;
  std::string last_;
};

/// (x - mean) / scale of all values of the layer, of those that the head did not learn as they are.
void add_scaling_of_values(Chain& chain, const table::Scaling& scaling, const std::vector<std::size_t>& places,
                           std::size_t n_values) {
  std::vector<float> mean(n_values, 0), scale(n_values, 1);
  for (std::size_t j = 0; j < places.size(); ++j) {
    mean[places[j]] = static_cast<float>(scaling.mean[j]);
    scale[places[j]] = static_cast<float>(scaling.scale[j]);
  }
  chain.add("Sub", "centred", {chain.constant<float>("mean", {n_values}, mean)});
  chain.add("Div", "scaled", {chain.constant<float>("scale", {n_values}, scale)});
}

/// The first layer's weights [n_outputs x n_values], of all values: 0 for those that the head did not learn.
std::vector<float> spread(const std::vector<float>& weights, const std::vector<std::size_t>& places,
                          std::size_t n_values) {
  const std::size_t n_outputs = weights.size() / places.size();
  std::vector<float> all(n_outputs * n_values, 0);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    for (std::size_t j = 0; j < places.size(); ++j) all[k * n_values + places[j]] = weights[k * places.size() + j];
  }
  return all;
}

void add_layers(Chain& chain, const neural::Model& head, const std::vector<std::size_t>& places, std::size_t n_values) {
  const std::size_t n_layers = head.layout.n_layers();
  for (std::size_t l = 0; l < n_layers; ++l) {
    auto [weights, biases] = neural::weights_and_biases(head.layout.layer(l), head.weights);
    std::size_t n_inputs = head.layout.layer(l).n_inputs;
    if (l == 0) {
      weights = spread(weights, places, n_values);
      n_inputs = n_values;
    }
    if (l + 1 == n_layers && head.options.loss == neural::Loss::kBinaryCrossEntropy) {
      // One output z: the softmax of 0 and z is 1 - sigmoid(z) and sigmoid(z).
      weights.insert(weights.begin(), n_inputs, 0);
      biases.insert(biases.begin(), 0);
    }
    const std::string name = "layer_" + std::to_string(l + 1);
    onnx::NodeProto& gemm = chain.add("Gemm", name,
                                      {chain.constant<float>(name + "_weights", {biases.size(), n_inputs}, weights),
                                       chain.constant<float>(name + "_bias", {biases.size()}, biases)});
    set_attribute(gemm, "transB", 1);
    if (l + 1 == n_layers || head.options.activation == neural::Activation::kIdentity) continue;
    chain.add(head.options.activation == neural::Activation::kRelu      ? "Relu"
              : head.options.activation == neural::Activation::kSigmoid ? "Sigmoid"
                                                                        : "Tanh",
              name + "_active");
  }
}

/// In place of what the network had under that name.
void set_metadata(const std::string& key, const std::string& value, onnx::ModelProto& file) {
  auto& all = *file.mutable_metadata_props();
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& entry) { return entry.key() == key; }), all.end());
  auto& entry = *all.Add();
  entry.set_key(key);
  entry.set_value(value);
}

std::vector<std::string> names_of_classes(const neural::Model& head) {
  if (!head.schema.classes.empty()) return head.schema.classes;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::max<std::size_t>(head.n_outputs(), 2); ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace

JoinedNetwork join_head(const algorithm::Model& model, const classify::NetworkOptions& options) {
  const neural::Model& head = head_of(model);
  const classify::PictureLayer layer(options);
  const std::vector<std::size_t> places = places_of(head.schema, layer);
  onnx::ModelProto file = read_file(options.path);
  onnx::GraphProto& graph = *file.mutable_graph();
  keep_what_makes(layer.output().name, layer.input_port().name, graph);
  set_input_shape(layer.input_port().shape, graph);
  file.set_ir_version(std::max<std::int64_t>(file.ir_version(), kWeightsAreNoInputs));

  Chain chain(graph, layer.output().name);
  const std::vector<std::int64_t> rows = {-1, static_cast<std::int64_t>(layer.n_values())};
  chain.add("Reshape", "features", {chain.constant<std::int64_t>("shape", {2}, rows)});
  add_scaling_of_values(chain, head.scaling, places, layer.n_values());
  add_layers(chain, head, places, layer.n_values());
  set_attribute(chain.add("Softmax", "probabilities"), "axis", 1);

  const std::vector<std::string> classes = names_of_classes(head);
  for (const std::string& name : classes) {
    if (name.find('\n') != name.npos) throw_input_error("the class {} has a line break in its name", printable(name));
  }
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name(chain.last());
  auto& type = *output.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("pictures");
  type.mutable_shape()->add_dim()->set_dim_value(static_cast<std::int64_t>(classes.size()));
  set_metadata("classes", SortedJson(classes).dump(), file);
  return {to_bytes(file), layer.facts().at("preprocessing_fields").dump(2) + "\n", classes};
}

void write_joined(const JoinedNetwork& joined, const JoinedFiles& files) {
  AtomicFile network(files.network), preprocessing(files.preprocessing), classes(files.classes);
  network.write(joined.onnx);
  preprocessing.write(joined.preprocessing);
  classes.write(fmt::format("{}\n", fmt::join(joined.classes, "\n")));
  preprocessing.commit();
  classes.commit();
  network.commit();
}

JoinedFiles write_joined_into(const std::filesystem::path& folder, const std::string& head,
                              const classify::NetworkOptions& options) {
  constexpr std::size_t kMostNameBytes = 200;
  const auto name_of = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const auto path_of = [&](const std::string& name) { return (folder / name.substr(0, kMostNameBytes)).string(); };
  JoinedFiles files = {
      .network = path_of(fmt::format("{} with {}", name_of(options.path), name_of(head))),
      .preprocessing = path_of(
          name_of(options.preprocess.empty() ? classify::preprocessing_file_of(options.path) : options.preprocess)),
      .classes = path_of("classes of the head")};
  write_joined(join_head(*load_model(head).model, options), files);
  return files;
}

}  // namespace podere::exchange
