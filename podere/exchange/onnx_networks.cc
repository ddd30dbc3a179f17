#include <algorithm>
#include <bit>
#include <span>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/exchange/onnx.h"
#include "podere/exchange/onnx_graph.h"

namespace podere::exchange {
namespace {

using neural::Activation;
using neural::Layer;
using neural::Loss;

/// A graph of which each operator takes what others give, by the names of these.
class Graph {
 public:
  explicit Graph(onnx::GraphProto& graph) : graph_(graph) {}

  onnx::NodeProto& add(const std::string& type, std::initializer_list<std::string> inputs, const std::string& output) {
    return add_op(graph_, "", type, inputs, {output});
  }

  void cast(const std::string& input, onnx::TensorProto::DataType type, const std::string& output) {
    set_attribute(add("Cast", {input}, output), "to", static_cast<std::int64_t>(type));
  }

  /// A constant of floats or doubles.
  template <typename T>
  void constant(const std::string& name, std::initializer_list<std::size_t> shape, std::span<const T> values) {
    static_assert(std::endian::native == std::endian::little);  // as raw data are
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(sizeof(T) == sizeof(float) ? onnx::TensorProto::FLOAT : onnx::TensorProto::DOUBLE);
    for (const std::size_t n : shape) tensor.add_dims(static_cast<std::int64_t>(n));
    tensor.set_raw_data(values.data(), values.size_bytes());
  }

 private:
  onnx::GraphProto& graph_;
};

/// (x - mean) / scale in double precision and then rounded, as Podere has it: features may be far from 0 and close to
/// each other. Returns the name of the result.
std::string add_scaling(Graph& graph, const table::Scaling& scaling) {
  if (std::ranges::all_of(scaling.mean, [](double mean) { return mean == 0; }) &&
      std::ranges::all_of(scaling.scale, [](double scale) { return scale == 1; })) {
    return "features";
  }
  graph.constant<double>("mean", {scaling.mean.size()}, scaling.mean);
  graph.constant<double>("scale", {scaling.scale.size()}, scaling.scale);
  graph.cast("features", onnx::TensorProto::DOUBLE, "features_as_doubles");
  graph.add("Sub", {"features_as_doubles", "mean"}, "centred");
  graph.add("Div", {"centred", "scale"}, "scaled_as_doubles");
  graph.cast("scaled_as_doubles", onnx::TensorProto::FLOAT, "scaled");
  return "scaled";
}

/// z * scale + mean in double precision and then rounded: numbers as their labels were. Returns the name of the result.
std::string add_target_scaling(Graph& graph, const neural::TargetScaling& target, const std::string& input) {
  if (target == neural::TargetScaling()) return input;
  graph.constant<double>("target_mean", {}, {&target.mean, 1});
  graph.constant<double>("target_scale", {}, {&target.scale, 1});
  graph.cast(input, onnx::TensorProto::DOUBLE, "output_as_double");
  graph.add("Mul", {"output_as_double", "target_scale"}, "output_times_scale");
  graph.add("Add", {"output_times_scale", "target_mean"}, "prediction_as_double");
  graph.cast("prediction_as_double", onnx::TensorProto::FLOAT, "prediction_as_float");
  return "prediction_as_float";
}

/// The mean for what is missing: 0, once features are scaled.
std::string add_imputation(Graph& graph, const std::string& input) {
  const float zero = 0;
  graph.constant<float>("zero", {}, {&zero, 1});
  graph.add("IsNaN", {input}, "is_missing");
  graph.add("Where", {"is_missing", "zero", input}, "imputed");
  return "imputed";
}

/// W x + b.
std::string add_layer(Graph& graph, const Layer& layer, std::span<const float> all_weights, std::size_t l,
                      const std::string& input) {
  std::string name = "layer_" + std::to_string(l + 1);
  const neural::WeightsAndBiases values = neural::weights_and_biases(layer, all_weights);
  graph.constant<float>(name + "_weights", {layer.n_outputs, layer.n_inputs}, values.weights);
  graph.constant<float>(name + "_bias", {layer.n_outputs}, values.biases);
  set_attribute(graph.add("Gemm", {input, name + "_weights", name + "_bias"}, name), "transB", 1);
  return name;
}

std::string add_activation(Graph& graph, Activation activation, const std::string& input) {
  const char* const type = activation == Activation::kRelu      ? "Relu"
                           : activation == Activation::kSigmoid ? "Sigmoid"
                                                                : "Tanh";
  if (activation == Activation::kIdentity) return input;
  std::string output = input + "_active";
  graph.add(type, {input}, output);
  return output;
}

/// label and probabilities. One output z is written as two, -z and z: so small probabilities of either class are exact.
void add_classes(Graph& graph, Loss loss, const std::string& outputs) {
  std::string margins = outputs;
  if (loss == Loss::kBinaryCrossEntropy) {
    graph.add("Neg", {outputs}, "of_class_0");
    set_attribute(graph.add("Concat", {"of_class_0", outputs}, "of_classes"), "axis", 1);
    margins = "of_classes";
    graph.add("Sigmoid", {margins}, "probabilities");
  } else {
    set_attribute(graph.add("Softmax", {margins}, "probabilities"), "axis", 1);
  }
  onnx::NodeProto& label = graph.add("ArgMax", {margins}, "label");
  set_attribute(label, "axis", 1);
  set_attribute(label, "keepdims", 0);
  // A probability of one half counts as class 1; of many classes the first of the largest counts.
  set_attribute(label, "select_last_index", loss == Loss::kBinaryCrossEntropy ? 1 : 0);
}

}  // namespace

std::string to_onnx(const neural::Model& model) {
  if (!model.schema.categories.empty()) {
    throw_input_error(
        "the feature {} has categories, which Podere does not write into ONNX networks: train on numbers "
        "that stand for them",
        printable(model.schema.features[model.schema.categories.begin()->first]));
  }
  onnx::ModelProto file = begin_onnx(model.schema);
  Graph graph(*file.mutable_graph());
  std::string values = add_scaling(graph, model.scaling);
  if (model.options.impute) values = add_imputation(graph, values);
  for (std::size_t l = 0; l < model.layout.n_layers(); ++l) {
    if (l > 0) values = add_activation(graph, model.options.activation, values);
    values = add_layer(graph, model.layout.layer(l), model.weights, l, values);
  }
  if (model.options.loss == Loss::kSquaredError) {
    graph.add("Identity", {add_target_scaling(graph, model.target, values)}, "prediction");
    describe_numbers(*file.mutable_graph());
  } else {
    add_classes(graph, model.options.loss, values);
    describe_classes(*file.mutable_graph(), std::max<std::int64_t>(static_cast<std::int64_t>(model.n_outputs()), 2));
  }
  return to_bytes(file);
}

}  // namespace podere::exchange
