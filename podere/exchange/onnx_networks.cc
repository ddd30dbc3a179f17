#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "podere/exchange/onnx.h"
#include "podere/exchange/onnx_graph.h"
#include "podere/neural/inputs.h"

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

  /// A constant of floats, doubles, whole numbers or bytes.
  template <typename T>
  void constant(const std::string& name, std::initializer_list<std::size_t> shape, std::span<const T> values) {
    static_assert(std::endian::native == std::endian::little);  // as raw data are
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(std::is_same_v<T, float>          ? onnx::TensorProto::FLOAT
                         : std::is_same_v<T, double>       ? onnx::TensorProto::DOUBLE
                         : std::is_same_v<T, std::int64_t> ? onnx::TensorProto::INT64
                                                           : onnx::TensorProto::UINT8);
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

/// [n_rows x n_columns] of some columns of another, or [n_rows] of one.
std::string add_columns(Graph& graph, const std::string& input, std::span<const std::int64_t> columns, bool is_one,
                        const std::string& output) {
  if (is_one) {
    graph.constant<std::int64_t>(output + "_place", {}, columns);
  } else {
    graph.constant<std::int64_t>(output + "_places", {columns.size()}, columns);
  }
  set_attribute(graph.add("Gather", {input, output + (is_one ? "_place" : "_places")}, output), "axis", 1);
  return output;
}

/// The inputs that a category sets: a row for each code of a table of zeros and ones, and one of zeros for what is no
/// code, such as NaN. Comes from the features as they are, where a missing value is not yet 0.
std::string add_category(Graph& graph, const neural::Inputs& inputs, std::size_t feature) {
  const std::string name = "category_" + std::to_string(feature);
  const auto [begin, end] = inputs.inputs_of(feature);
  const auto categories = inputs.inputs_of_categories(feature);
  const std::size_t width = end - begin;
  std::vector<std::uint8_t> table((categories.size() + 1) * width);
  for (std::size_t code = 0; code < categories.size(); ++code) {
    for (const std::uint32_t input : categories[code]) table[code * width + (input - begin)] = 1;
  }
  const auto place = static_cast<std::int64_t>(feature);
  const auto n = static_cast<float>(categories.size());
  const float zero = 0;
  graph.constant<float>(name + "_first", {}, {&zero, 1});
  graph.constant<float>(name + "_end", {}, {&n, 1});
  graph.constant<std::uint8_t>(name + "_table", {categories.size() + 1, width}, table);
  add_columns(graph, "features", {&place, 1}, /*is_one=*/true, name);
  graph.add("GreaterOrEqual", {name, name + "_first"}, name + "_is_not_below");
  graph.add("Less", {name, name + "_end"}, name + "_is_not_above");
  graph.add("And", {name + "_is_not_below", name + "_is_not_above"}, name + "_is_code");
  graph.add("Where", {name + "_is_code", name, name + "_end"}, name + "_row");
  graph.cast(name + "_row", onnx::TensorProto::INT64, name + "_row_number");
  set_attribute(graph.add("Gather", {name + "_table", name + "_row_number"}, name + "_bytes"), "axis", 0);
  graph.cast(name + "_bytes", onnx::TensorProto::FLOAT, name + "_inputs");
  return name + "_inputs";
}

/// The inputs of the first layer, of which `numbers` has those that are numbers. Returns the name of the result.
std::string add_categories(Graph& graph, const neural::Inputs& inputs, const std::string& numbers) {
  if (!inputs.has_categories()) return numbers;
  std::vector<std::string> pieces;
  std::vector<std::int64_t> run;  // of numbers beside each other
  const auto end_run = [&] {
    if (run.empty()) return;
    pieces.push_back(add_columns(graph, numbers, run, /*is_one=*/false, "numbers_from_" + std::to_string(run[0])));
    run.clear();
  };
  for (std::size_t j = 0; j < inputs.n_features(); ++j) {
    if (!inputs.is_category(j)) {
      run.push_back(static_cast<std::int64_t>(j));
      continue;
    }
    end_run();
    pieces.push_back(add_category(graph, inputs, j));
  }
  end_run();
  onnx::NodeProto& all = graph.add("Concat", {}, "inputs");
  for (const std::string& piece : pieces) all.add_input(piece);
  set_attribute(all, "axis", 1);
  return "inputs";
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
  onnx::ModelProto file = begin_onnx(model.schema);
  Graph graph(*file.mutable_graph());
  std::string values = add_scaling(graph, model.scaling);
  if (model.options.impute) values = add_imputation(graph, values);
  values = add_categories(graph, neural::Inputs(model.schema, model.options.one_hot), values);
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
