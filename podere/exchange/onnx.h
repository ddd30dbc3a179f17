// ONNX models of trees and networks.
#pragma once

#include <string>

#include "podere/neural/model.h"
#include "podere/tree/model.h"

namespace podere::exchange {

/// `model` as an ONNX graph (binary protobuf; opset 13), for one input and one or two outputs:
///   features [n_rows x n_features] float32, in the order of the model's schema
///   label [n_rows] int64 and probabilities [n_rows x n_classes] float32, of classes
///   prediction [n_rows x 1] float32, of numbers
/// Names of features are in the metadata, as a JSON array under "feature_names". Throws InputError if the graph would
/// be larger than the 2 GiB that protobuf allows.
///
/// Trees are a TreeEnsembleClassifier or a TreeEnsembleRegressor (ai.onnx.ml 3), NaN is missing. A categorical split is
/// a chain of BRANCH_EQ nodes that lead to the same child, as converters of other programs write it too; runtimes of
/// ONNX read that. Throws InputError for linear trees, and for two classes one versus all.
std::string to_onnx(const tree::Model& model);

/// A Gemm a layer, on features that are standardized in double precision, as Podere does. With options.impute NaN is
/// missing and becomes the mean; what Podere refuses, NaN without it and infinite values, has no meaning in the graph.
std::string to_onnx(const neural::Model& model);

}  // namespace podere::exchange
