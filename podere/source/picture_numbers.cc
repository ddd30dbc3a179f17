#include "podere/source/picture_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/classify/picture_layer.h"
#include "podere/io/memory_room.h"
#include "podere/table/features.h"

namespace podere::source {
namespace {

using classify::PictureLayer;

constexpr std::string_view kFeature = "feature";

/// A network, and as many lanes as threads were in it at once.
class SharedLayer {
 public:
  explicit SharedLayer(const classify::NetworkOptions& options) : layer_(options) {}

  const PictureLayer& operator*() const { return layer_; }

  /// Thread-safe.
  void compute(const image::Picture& picture, std::span<float> numbers) {
    std::unique_ptr<PictureLayer::Lane> lane = take();
    layer_.prepare(picture, *lane);
    std::ranges::copy(layer_.run(*lane), numbers.begin());
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(lane));
  }

 private:
  std::unique_ptr<PictureLayer::Lane> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto lane = std::move(free_.back());
        free_.pop_back();
        return lane;
      }
    }
    return std::make_unique<PictureLayer::Lane>(layer_.new_lane());
  }

  PictureLayer layer_;
  std::mutex mutex_;  // of `free_`
  std::vector<std::unique_ptr<PictureLayer::Lane>> free_;
};

PictureNumbers pixels(const PictureShape& shape, unsigned n_bits) {
  PictureNumbers numbers;
  numbers.pictures = pixels_query(shape, n_bits);
  numbers.decoding.n_bits = n_bits;
  for (std::size_t i = 0; i < shape.n_values(); ++i) numbers.names.push_back(table::pixel_name(i));
  numbers.compute = [shape](image::Picture picture, const std::string& /*title*/, std::span<float> values) {
    std::ranges::copy(to_shape(std::move(picture), shape).pixels, values.begin());
  };
  return numbers;
}

PictureNumbers features(const std::string& location, const PictureQuery& query) {
  const auto layer = std::make_shared<SharedLayer>(classify::NetworkOptions{.path = query.model,
                                                                            .preprocess = query.preprocess,
                                                                            .size = query.shape.width,
                                                                            .bits = query.bits,
                                                                            .layer = query.layer,
                                                                            .is_in_location = true});
  const graph::Port& output = (**layer).output();
  const std::size_t n = (**layer).n_values();
  if (n == 0 || n > io::kMostFeatures) {
    throw_input_error("{}: {} is {}, which are {} features of a picture, allowed are 1 to {}: choose another layer=",
                      location, printable(output.name), graph::to_text(output.shape), n, io::kMostFeatures);
  }
  PictureNumbers numbers;
  numbers.decoding = (**layer).decoding();
  numbers.fingerprint = (**layer).fingerprint();
  for (std::size_t i = 0; i < n; ++i) numbers.names.push_back((**layer).feature_name(i));
  numbers.compute = [layer, name = printable(output.name)](const image::Picture& picture, const std::string& title,
                                                           std::span<float> values) {
    layer->compute(picture, values);
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return;
    throw_input_error("{}: the network makes NaN or infinite values of it in {}", title, name);
  };
  return numbers;
}

/// "3fa9c2d1" of "feature1@3fa9c2d1"; empty for other names.
std::string_view network_of(std::string_view name) {
  const std::size_t at = name.find('@');
  return name.starts_with(kFeature) && at != name.npos ? name.substr(at + 1) : std::string_view();
}

/// Whether the model learned whole pictures: all of their pixels.
bool learned_pixels(const table::Schema& model) {
  for (std::size_t i = 0; i < model.features.size(); ++i) {
    if (model.features[i] != table::pixel_name(i)) return false;
  }
  return true;
}

}  // namespace

PictureNumbers picture_numbers(const std::string& location, const PictureQuery& query) {
  return query.model.empty() ? pixels(query.shape, query.bits) : features(location, query);
}

void check_learned(const std::string& location, const table::Schema& model, const std::vector<std::string>& names,
                   const std::string& pictures) {
  if (model.features.empty()) return;
  const std::string_view learned = network_of(model.features.front());
  const std::string_view here = network_of(names.front());
  if (!learned.empty() && here.empty()) {
    throw_input_error(
        "{}: pixels, and the model learned features of a network: give the model=, layer= and preprocess= of its "
        "training",
        location);
  }
  if (!learned.empty() && learned != here) {
    throw_input_error(
        "{}: features of the network {}, and the model learned those of {}: give the model=, layer=, size= and "
        "preprocess= of its training",
        location, here, learned);
  }
  if (!learned.empty() || !learned_pixels(model)) return;
  if (!here.empty()) {
    throw_input_error("{}: features of a network, and the model learned pixels: give the size= of its training",
                      location);
  }
  if (!model.pictures.empty() && model.pictures != pictures) {
    throw_input_error("{}: pictures as {}, and the model learned them as {}: give that behind the question mark",
                      location, pictures, model.pictures);
  }
  // A model of an earlier version knows no more than this: the first pixels of another size have the same names.
  if (model.features.size() == names.size()) return;
  throw_input_error("{}: pictures of {} values, and the model learned {}: give the size and channels of its training",
                    location, names.size(), model.features.size());
}

}  // namespace podere::source
