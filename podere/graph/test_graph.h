// Small networks for tests, written node by node.
#pragma once

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "podere/base/hash.h"
#include "podere/graph/network.h"
#include "podere/graph/plan.h"

namespace podere::graph {

/// n numbers in [-1, 1).
inline std::vector<float> random_numbers(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(2 * uniform01(hash64(seed, 0, i)) - 1);
  return values;
}

inline std::size_t count(const Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
  return n;
}

/// An ONNX file with the input "x" and the output "y".
class TestGraph {
 public:
  explicit TestGraph(const Shape& input, int opset = 17) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    auto& x = *model.mutable_graph()->add_input();
    x.set_name("x");
    auto& tensor = *x.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : input) {
      auto& dimension = *tensor.mutable_shape()->add_dim();
      if (size >= 0) dimension.set_dim_value(size);
    }
    model.mutable_graph()->add_output()->set_name("y");
  }

  onnx::NodeProto& node(const std::string& type, std::initializer_list<std::string> inputs, const std::string& output) {
    auto& node = *model.mutable_graph()->add_node();
    node.set_op_type(type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }
  static void set(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name, std::initializer_list<std::int64_t> values) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
  onnx::TensorProto& weight(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : shape) tensor.add_dims(size);
    for (const float value : values) tensor.add_float_data(value);
    return tensor;
  }
  onnx::TensorProto& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return tensor;
  }
  /// Conv and BatchNormalization of random weights.
  void convolution(const std::string& from, const std::string& to, std::int64_t n_in, std::int64_t n_out,
                   std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
    const Shape shape = {n_out, n_in / groups, kernel, kernel};
    weight(to + ".w", shape, random_numbers(count(shape), 100 + static_cast<std::uint64_t>(n_weights_++)));
    auto& conv = node("Conv", {from, to + ".w"}, to + ".sums");
    set(conv, "strides", {stride, stride});
    set(conv, "pads", {kernel / 2, kernel / 2, kernel / 2, kernel / 2});
    set(conv, "group", groups);
    const auto n = static_cast<std::size_t>(n_out);
    weight(to + ".scale", {n_out}, std::vector<float>(n, 0.5F));
    weight(to + ".shift", {n_out}, random_numbers(n, 200));
    weight(to + ".mean", {n_out}, random_numbers(n, 201));
    weight(to + ".variance", {n_out}, std::vector<float>(n, 2.0F));
    node("BatchNormalization", {to + ".sums", to + ".scale", to + ".shift", to + ".mean", to + ".variance"}, to);
  }

  std::string bytes() const { return model.SerializeAsString(); }
  Network network() const { return read_onnx(bytes(), "test.onnx"); }

  onnx::ModelProto model;

 private:
  int n_weights_ = 0;
};

/// The first output of a network.
inline std::vector<float> result_of(const Network& network, const PlanOptions& options, const std::vector<float>& input,
                                    int n_threads = 1) {
  const Plan plan(network, options);
  Workspace workspace(plan, n_threads);
  std::vector<std::vector<float>> results;
  std::vector<std::span<float>> spans;
  for (const Port& output : plan.outputs()) results.emplace_back(count(output.shape));
  for (auto& result : results) spans.emplace_back(result);
  run(plan, workspace, input, spans);
  return results.front();
}

}  // namespace podere::graph
