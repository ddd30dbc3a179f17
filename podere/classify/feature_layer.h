// What a layer of a network makes of pictures, as the features of tables.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "podere/classify/picture_layer.h"

namespace podere::classify {

/// A layer of as many values as a table may have features, and as many lanes as threads were in it at once.
class FeatureLayer {
 public:
  /// Throws InputError as PictureLayer, and for a layer of too many values or of none.
  explicit FeatureLayer(const NetworkOptions& options);

  std::size_t n_features() const { return layer_.n_values(); }
  /// As tables have them.
  std::vector<std::string> names() const;
  image::DecodeOptions decoding() const { return layer_.decoding(); }
  const std::string& fingerprint() const { return layer_.fingerprint(); }

  /// Fills `features` [n_features()] with those of a picture that messages call `title`. Thread-safe. Throws InputError
  /// where the network makes NaN or infinite values of it.
  void compute(const image::Picture& picture, const std::string& title, std::span<float> features) const;

 private:
  using Lane = PictureLayer::Lane;
  std::unique_ptr<Lane> take_lane() const;

  PictureLayer layer_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::vector<std::unique_ptr<Lane>> free_;
};

}  // namespace podere::classify
