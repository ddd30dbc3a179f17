// A network that takes a picture and gives a score for each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/classify/preprocessing.h"
#include "podere/graph/plan.h"

namespace podere::classify {

/// How a network is used.
struct NetworkOptions {
  std::string path;        ///< ONNX file
  std::string preprocess;  ///< as preprocessing_of has it; empty: the file MODEL.json beside MODEL.onnx
  std::uint32_t size = 0;  ///< height and width of the pictures that it gets; 0: the file says them
  std::string layer;       ///< the tensor that has the scores; empty: the output
};

/// Immutable: threads share it, each with a Lane.
class PictureNetwork {
 public:
  /// What a thread needs to run it.
  struct Lane {
    graph::Workspace workspace;
    std::vector<float> input;
    std::vector<float> scores;
  };

  /// Throws InputError for a network that does not take one picture of one or three channels, or has several outputs.
  explicit PictureNetwork(const NetworkOptions& options);

  std::size_t n_classes() const { return n_classes_; }
  /// Whether the scores are not probabilities yet.
  bool needs_softmax() const { return needs_softmax_; }
  /// What was decided, to be shown.
  const Json& facts() const { return facts_; }

  Lane new_lane() const;
  void prepare(const image::Picture& picture, Lane& lane) const { preparer_.prepare(picture, lane.input); }
  /// The scores of what was prepared last: [n_classes()], in the lane.
  std::span<const float> run(Lane& lane) const;

 private:
  struct Parts;
  explicit PictureNetwork(const Parts& parts);

  Preparer preparer_;
  graph::Plan plan_;
  std::size_t n_classes_;
  bool needs_softmax_ = false;
  Json facts_;
};

}  // namespace podere::classify
