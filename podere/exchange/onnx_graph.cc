#include "podere/exchange/onnx_graph.h"

#include <limits>

#include "podere/base/error.h"
#include "podere/base/json.h"

namespace podere::exchange {
namespace {

constexpr int kOpset = 13;     // ArgMax, Gemm, Softmax and others, in the forms that came with it or before
constexpr int kIrVersion = 7;  // goes with opset 13

/// [n_rows x n_columns], or [n_rows] for no columns.
void describe(onnx::ValueInfoProto& value, const std::string& name, onnx::TensorProto::DataType type,
              std::int64_t n_columns) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape()->add_dim()->set_dim_param("n_rows");
  if (n_columns > 0) tensor.mutable_shape()->add_dim()->set_dim_value(n_columns);
}

}  // namespace

onnx::ModelProto begin_onnx(const table::Schema& schema) {
  onnx::ModelProto file;
  file.set_ir_version(kIrVersion);
  file.set_producer_name("podere");
  file.set_producer_version(PODERE_VERSION);
  add_opset(file, "", kOpset);
  onnx::GraphProto& graph = *file.mutable_graph();
  graph.set_name("podere");
  describe(*graph.add_input(), "features", onnx::TensorProto::FLOAT, static_cast<std::int64_t>(schema.features.size()));
  auto& names = *file.add_metadata_props();
  names.set_key("feature_names");
  names.set_value(SortedJson(schema.features).dump());
  auto categories = SortedJson::object();  // by code
  for (const auto& [feature, texts] : schema.categories) {
    if (texts) categories[schema.features[feature]] = static_cast<const std::vector<std::string>&>(*texts);
  }
  if (!categories.empty()) {
    auto& codes = *file.add_metadata_props();
    codes.set_key("categories");
    codes.set_value(categories.dump());
  }
  return file;
}

void add_opset(onnx::ModelProto& file, const std::string& domain, int version) {
  auto& opset = *file.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

std::string to_bytes(const onnx::ModelProto& file) {
  if (file.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("the model is larger than the 2 GiB that ONNX allows");
  return file.SerializeAsString();
}

onnx::NodeProto& add_op(onnx::GraphProto& graph, const std::string& domain, const std::string& type,
                        std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs) {
  onnx::NodeProto& op = *graph.add_node();
  op.set_domain(domain);
  op.set_op_type(type);
  op.set_name(*outputs.begin());
  for (const std::string& input : inputs) op.add_input(input);
  for (const std::string& output : outputs) op.add_output(output);
  return op;
}

onnx::AttributeProto& add_attribute(onnx::NodeProto& op, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& result = *op.add_attribute();
  result.set_name(name);
  result.set_type(type);
  return result;
}

void set_attribute(onnx::NodeProto& op, const std::string& name, const std::string& value) {
  add_attribute(op, name, onnx::AttributeProto::STRING).set_s(value);
}

void set_attribute(onnx::NodeProto& op, const std::string& name, std::int64_t value) {
  add_attribute(op, name, onnx::AttributeProto::INT).set_i(value);
}

void describe_classes(onnx::GraphProto& graph, std::int64_t n_classes) {
  describe(*graph.add_output(), "label", onnx::TensorProto::INT64, 0);
  describe(*graph.add_output(), "probabilities", onnx::TensorProto::FLOAT, n_classes);
}

void describe_numbers(onnx::GraphProto& graph) {
  describe(*graph.add_output(), "prediction", onnx::TensorProto::FLOAT, 1);
}

}  // namespace podere::exchange
