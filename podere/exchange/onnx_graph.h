// What ONNX files of all models have in common.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "podere/table/table.h"

namespace podere::exchange {

/// A file whose graph has the input `features` [n_rows x n_features] float32 and no operators yet. Names of features
/// are in the metadata, as a JSON array under "feature_names".
onnx::ModelProto begin_onnx(const table::Schema& schema);

void add_opset(onnx::ModelProto& file, const std::string& domain, int version);

/// The file's content. Throws InputError if it would be larger than the 2 GiB that protobuf allows.
std::string to_bytes(const onnx::ModelProto& file);

/// An operator of the domain's operator set ("": ONNX's own), named as its first output.
onnx::NodeProto& add_op(onnx::GraphProto& graph, const std::string& domain, const std::string& type,
                        std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs);

onnx::AttributeProto& add_attribute(onnx::NodeProto& op, const std::string& name,
                                    onnx::AttributeProto::AttributeType type);
void set_attribute(onnx::NodeProto& op, const std::string& name, const std::string& value);
void set_attribute(onnx::NodeProto& op, const std::string& name, std::int64_t value);

/// The outputs label [n_rows] int64 and probabilities [n_rows x n_classes] float32.
void describe_classes(onnx::GraphProto& graph, std::int64_t n_classes);
/// The output prediction [n_rows x 1] float32.
void describe_numbers(onnx::GraphProto& graph);

}  // namespace podere::exchange
