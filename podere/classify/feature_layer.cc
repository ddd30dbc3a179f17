#include "podere/classify/feature_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/io/memory_room.h"

namespace podere::classify {

FeatureLayer::FeatureLayer(const NetworkOptions& options) : layer_(options) {
  if (n_features() > 0 && n_features() <= io::kMostFeatures) return;
  const graph::Port& output = layer_.output();
  throw_input_error(
      "{}: {} is {}, which are {} features of a picture, allowed are 1 to {}: choose another layer=", options.path,
      printable(output.name), graph::to_text(output.shape), n_features(), io::kMostFeatures);
}

std::vector<std::string> FeatureLayer::names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n_features(); ++i) names.push_back(layer_.feature_name(i));
  return names;
}

void FeatureLayer::compute(const image::Picture& picture, const std::string& title, std::span<float> features) const {
  std::unique_ptr<Lane> lane = take_lane();
  layer_.prepare(picture, *lane);
  std::ranges::copy(layer_.run(*lane), features.begin());
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(lane));
  }
  if (std::ranges::all_of(features, [](float value) { return std::isfinite(value); })) return;
  throw_input_error("{}: the network makes NaN or infinite values of it in {}", title, printable(layer_.output().name));
}

std::unique_ptr<PictureLayer::Lane> FeatureLayer::take_lane() const {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto lane = std::move(free_.back());
      free_.pop_back();
      return lane;
    }
  }
  return std::make_unique<Lane>(layer_.new_lane());
}

}  // namespace podere::classify
