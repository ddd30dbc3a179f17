#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/base/sha256.h"
#include "podere/graph/graph.h"
#include "podere/graph/network.h"
#include "podere/graph/onnx_tensor.h"

namespace podere::graph {
namespace {

constexpr std::int64_t kFirstOpset = 9;
constexpr std::int64_t kLastOpset = 26;

AttributeValue to_attribute(const onnx::AttributeProto& proto, const std::string& what, const WeightsFolder& folder) {
  switch (proto.type()) {
    case onnx::AttributeProto::FLOAT:
      return proto.f();
    case onnx::AttributeProto::INT:
      return proto.i();
    case onnx::AttributeProto::STRING:
      return proto.s();
    case onnx::AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::TENSOR:
      return to_tensor(proto.t(), fmt::format("the attribute {} of {}", printable(proto.name()), what), folder);
    default:
      return OtherValue{};
  }
}

Node to_node(const onnx::NodeProto& proto, const WeightsFolder& folder) {
  Node node;
  const bool is_own = proto.domain().empty() || proto.domain() == "ai.onnx";
  node.type = is_own ? proto.op_type() : proto.domain() + "." + proto.op_type();
  node.name = !proto.name().empty() || proto.output_size() == 0 ? proto.name() : proto.output(0);
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute()) {
    node.attributes[attribute.name()] = to_attribute(attribute, node.label(), folder);
  }
  return node;
}

Port to_port(const onnx::ValueInfoProto& proto) {
  Port port{proto.name(), {}};
  for (const auto& dimension : proto.type().tensor_type().shape().dim()) {
    port.shape.push_back(dimension.has_dim_value() && dimension.dim_value() >= 0 ? dimension.dim_value() : -1);
  }
  return port;
}

/// Checks that each node comes after those whose outputs it takes, as ONNX requires, and names are given once.
void check_order(const Graph& graph) {
  std::set<std::string> known;
  for (const Port& input : graph.inputs) known.insert(input.name);
  for (const auto& [name, tensor] : graph.weights) known.insert(name);
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      if (!input.empty() && !known.contains(input))
        throw_input_error("{} takes the tensor {}, which is no input or weight and comes from no operator before it",
                          node.label(), printable(input));
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty() && !known.insert(output).second)
        throw_input_error("{}: the tensor {} is there twice", node.label(), printable(output));
    }
  }
  for (const Port& output : graph.outputs) {
    if (!known.contains(output.name)) throw_input_error("the output {} comes from no operator", printable(output.name));
  }
}

/// Of the tensors that lie in other files, the files.
std::vector<std::string> weight_files(const onnx::GraphProto& graph) {
  std::set<std::string> files;
  const auto add = [&](const onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") files.insert(entry.value());
    }
  };
  for (const auto& weight : graph.initializer()) add(weight);
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) add(attribute.t());
  }
  return {files.begin(), files.end()};
}

/// Weights go from the model to the graph: there is no room for both.
Graph to_graph(onnx::ModelProto& model, const WeightsFolder& folder) {
  Graph graph;
  for (const auto& opset : model.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") graph.facts.opset = opset.version();
  }
  if (graph.facts.opset < kFirstOpset || graph.facts.opset > kLastOpset)
    throw_input_error("its operators are those of opset {}: export it with one of {} to {}", graph.facts.opset,
                      kFirstOpset, kLastOpset);
  graph.facts.producer = model.producer_name();
  if (!model.producer_version().empty()) graph.facts.producer += " " + model.producer_version();
  onnx::GraphProto& proto = *model.mutable_graph();
  graph.facts.weight_files = weight_files(proto);
  if (proto.sparse_initializer_size() > 0) throw_input_error("its weights are sparse tensors: dense ones are read");
  for (auto& weight : *proto.mutable_initializer()) {
    TensorPtr tensor = to_tensor(weight, fmt::format("the weight {}", printable(weight.name())), folder);
    graph.facts.n_parameters += tensor->is_float ? tensor->size() : 0;
    graph.weights[weight.name()] = std::move(tensor);
    delete weight.release_raw_data();
  }
  for (const auto& input : proto.input()) {
    if (graph.weights.contains(input.name())) continue;  // as files did before opset 9 was new
    const int type = input.type().tensor_type().elem_type();
    if (type != onnx::TensorProto::FLOAT)
      throw_input_error("its input {} is of the type {}: Podere runs networks whose input is FLOAT",
                        printable(input.name()),
                        onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(type)));
    graph.inputs.push_back(to_port(input));
  }
  for (const auto& output : proto.output()) graph.outputs.push_back(to_port(output));
  for (const auto& node : proto.node()) graph.nodes.push_back(to_node(node, folder));
  graph.facts.n_operators = graph.nodes.size();
  if (graph.nodes.empty() || graph.outputs.empty()) throw_input_error("it has no operators or no outputs");
  check_order(graph);
  return graph;
}

Network read(google::protobuf::io::ZeroCopyInputStream& stream, std::uint64_t n_bytes, const std::string& name,
             const WeightsFolder& folder) {
  onnx::ModelProto model;
  if (n_bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw_input_error("'{}' is larger than the 2 GiB of an ONNX file: export it with weights in a file beside it",
                      name);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() || !model.has_graph())
    throw_input_error(
        "'{}' is no ONNX file, or a damaged one; networks come here as ONNX files, as torch.onnx.export "
        "writes them",
        name);
  try {
    auto graph = std::make_shared<Graph>(to_graph(model, folder));
    graph->file = name;
    return Network(std::move(graph));
  } catch (const InputError& error) {
    throw_input_error("'{}': {}", name, error.what());
  }
}

}  // namespace

Network read_onnx(std::string_view content, const std::string& name) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  google::protobuf::io::ArrayInputStream stream(content.data(), static_cast<int>(std::min(content.size(), kMost)));
  return read(stream, content.size(), name, std::nullopt);
}

Network read_onnx(const std::filesystem::path& file) {
  std::ifstream content(file, std::ios::binary);
  std::error_code failure;
  if (!content || !std::filesystem::is_regular_file(file, failure))
    throw_input_error("'{}' cannot be read", file.string());
  google::protobuf::io::IstreamInputStream stream(&content, 1 << 20);
  const auto folder = file.parent_path();
  return read(stream, std::filesystem::file_size(file), file.string(),
              folder.empty() ? std::filesystem::path(".") : folder);
}

std::string sha256_of_network(const std::filesystem::path& file, const Network& network) {
  std::string of_file = sha256_of_file(file);
  if (network.facts().weight_files.empty()) return of_file;
  std::string all = of_file + "\n";
  for (const std::string& beside : network.facts().weight_files) {
    all += sha256_of_file(file.parent_path() / beside) + "\n";
  }
  return sha256_of(all);
}

}  // namespace podere::graph
