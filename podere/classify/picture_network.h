// A network that takes a picture and gives a score for each class.
#pragma once

#include <cstddef>
#include <span>

#include "podere/base/json.h"
#include "podere/classify/picture_layer.h"

namespace podere::classify {

/// Immutable: threads share it, each with a Lane.
class PictureNetwork {
 public:
  using Lane = PictureLayer::Lane;

  /// Throws InputError as PictureLayer, and where the values are no list of scores.
  explicit PictureNetwork(const NetworkOptions& options);

  std::size_t n_classes() const { return layer_.n_values(); }
  /// Whether the scores are not probabilities yet.
  bool needs_softmax() const { return needs_softmax_; }
  /// What was decided, to be shown.
  const Json& facts() const { return facts_; }

  Lane new_lane() const { return layer_.new_lane(); }
  image::DecodeOptions decoding() const { return layer_.decoding(); }
  const InputShape& input() const { return layer_.input(); }
  image::Picture prepare(const image::Picture& picture, Lane& lane) const { return layer_.prepare(picture, lane); }
  /// The scores of what was prepared last: [n_classes()], in the lane.
  std::span<const float> run(Lane& lane) const { return layer_.run(lane); }

 private:
  PictureLayer layer_;
  bool needs_softmax_ = false;
  Json facts_;
};

}  // namespace podere::classify
