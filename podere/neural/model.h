// A dense network as a value, and as a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podere/evaluate/history.h"
#include "podere/neural/network.h"
#include "podere/neural/options.h"
#include "podere/neural/state.h"
#include "podere/table/standardize.h"
#include "podere/table/table.h"

namespace podere::neural {

/// After each epoch: weighted means over it, at the weights that each batch met, of lbfgs that it left; no penalty.
using evaluate::History;

/// Labels y are learned as (y - mean) / scale, rounded to float32; losses are of these.
struct TargetScaling {
  double mean = 0;
  double scale = 1;  ///< finite, above 0
  bool operator==(const TargetScaling&) const = default;
};

/// outputs = layers(... (x - mean) / scale ...), each layer activation(W x + b); the last one as its loss has it.
struct Model {
  table::Schema schema;
  Options options;  ///< as trained; n_classes filled in
  table::Scaling scaling;
  TargetScaling target;  ///< of squared-error
  Layout layout;
  std::vector<float> weights;  ///< [layout.size()]
  History history;

  /// 1, or the number of classes for cross-entropy.
  std::size_t n_outputs() const { return layout.n_outputs(); }
};

/// Weights and biases that a network may have: half a gigabyte of them.
inline constexpr std::size_t kMaxWeights = std::size_t{1} << 27;

/// Of a model with `n_classes` filled in.
Layout layout_of(const table::Schema& schema, const Options& options);

/// Throws InputError for features that a network cannot take, options out of range, n_classes not filled in, or layers
/// of more than kMaxWeights.
void check_shape(const table::Schema& schema, const Options& options);

/// Throws InputError for a model that cannot be used.
void validate(const Model& model);

/// A model in training, with all that is needed to resume.
struct Checkpoint {
  Model model;
  TrainState state;
};

/// The model file's content: JSON with format, version, checksum, schema; the weights in it as base64 of float32,
/// little-endian, layer by layer [n_outputs x (n_inputs + 1)], an output a row, its bias last.
std::string to_text(const Model& model);
/// The same with the state of the training: a model file itself.
std::string to_text(const Checkpoint& checkpoint);
/// Inverse of to_text. Throws InputError, beginning with `name`, for text that is not a whole, unaltered model of
/// this or an earlier version.
Model from_text(const std::string& text, const std::string& name);
/// Throws InputError too if there is no state in it.
Checkpoint checkpoint_from_text(const std::string& text, const std::string& name);

/// Whether a text is meant to be such a model, whole or not.
bool is_network_text(const std::string& text);

}  // namespace podere::neural
