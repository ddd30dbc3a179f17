// ONNX models of trees.
#pragma once

#include <string>

#include "podere/tree/model.h"

namespace podere::exchange {

/// `model` as an ONNX graph (binary protobuf; opset 13, ai.onnx.ml 3), for one input and one or two outputs:
///   features [n_rows x n_features] float32, NaN for missing, in the order of the model's schema
///   label [n_rows] int64 and probabilities [n_rows x n_classes] float32, of classes
///   prediction [n_rows x 1] float32, of numbers
/// Trees are a TreeEnsembleClassifier or a TreeEnsembleRegressor. A categorical split is a chain of BRANCH_EQ nodes
/// that lead to the same child, as converters of other programs write it too; runtimes of ONNX read that. Names of
/// features are in the metadata, as a JSON array under "feature_names". Throws InputError for a Poisson model, and if
/// the graph would be larger than the 2 GiB that protobuf allows.
std::string to_onnx(const tree::Model& model);

}  // namespace podere::exchange
