// A network that takes a picture, and what one of its layers makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/classify/preprocessing.h"
#include "podere/graph/network.h"
#include "podere/graph/plan.h"
#include "podere/image/decode.h"

namespace podere::classify {

/// How a network is used.
struct NetworkOptions {
  std::string path;             ///< ONNX file
  std::string preprocess;       ///< as preprocessing_of has it; empty: the file MODEL.json beside MODEL.onnx
  std::uint32_t size = 0;       ///< height and width of the pictures that it gets; 0: the file says them
  unsigned bits = 0;            ///< that values above 8 bits use; 0: as the preprocessing has it
  std::string layer;            ///< the tensor that is wanted; empty: the output
  bool is_in_location = false;  ///< messages name the options as in "images:FOLDER?layer=", not as "--layer"
};

/// The file beside MODEL.onnx that says how values of pictures come to it: MODEL.json.
std::string preprocessing_file_of(const std::string& model);

/// Immutable: threads share it, each with a Lane.
class PictureLayer {
 public:
  /// What a thread needs to run it.
  struct Lane {
    graph::Workspace workspace;
    std::vector<float> input;
    std::vector<float> values;
  };

  /// Throws InputError for a network that does not take one picture of one or three channels, or has several outputs
  /// and none is chosen.
  explicit PictureLayer(const NetworkOptions& options);

  /// Name and shape.
  const graph::Port& output() const { return plan_.outputs().front(); }
  std::size_t n_values() const { return n_values_; }
  /// The operator that makes the values; empty: none that is known.
  const std::string& operator_behind() const { return operator_behind_; }
  /// What was decided, to be shown.
  const Json& facts() const { return facts_; }
  /// SHA-256 of all that the values depend on but for the picture: operators and weights, wherever they lie, layer,
  /// size and preprocessing.
  const std::string& fingerprint() const { return fingerprint_; }
  /// Of value i in tables, whose models learn names: "feature1@3fa9c2d1", the end from the fingerprint.
  std::string feature_name(std::size_t i) const;

  Lane new_lane() const;
  /// How pictures for it are decoded.
  image::DecodeOptions decoding() const { return {.n_bits = n_bits_}; }
  const InputShape& input() const { return preparer_.shape(); }
  /// The same as the network has it, by name, for one picture.
  const graph::Port& input_port() const { return input_port_; }
  /// Returns the picture as the network gets it, but for what becomes of its values.
  image::Picture prepare(const image::Picture& picture, Lane& lane) const {
    image::Picture small = preparer_.resized(picture);
    preparer_.fill(small, lane.input);
    return small;
  }
  /// The values, row-major, of what was prepared last: [n_values()], in the lane.
  std::span<const float> run(Lane& lane) const;

 private:
  struct Parts;
  explicit PictureLayer(const Parts& parts);

  unsigned n_bits_;
  Preparer preparer_;
  graph::Plan plan_;
  graph::Port input_port_;
  std::size_t n_values_;
  std::string operator_behind_;
  Json facts_;
  std::string fingerprint_;
};

}  // namespace podere::classify
