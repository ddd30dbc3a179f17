// Tensors of ONNX files.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <optional>

#include "podere/graph/tensor.h"

namespace podere::graph {

/// Where weights that are not in the ONNX file itself may lie: within this folder. None: nowhere.
using WeightsFolder = std::optional<std::filesystem::path>;

/// Throws InputError that names `what` for types, sizes and places that are not to be read.
TensorPtr to_tensor(const onnx::TensorProto& proto, const std::string& what, const WeightsFolder& folder);

}  // namespace podere::graph
