#include "podere/source/picture_numbers.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/classify/feature_layer.h"
#include "podere/table/features.h"

namespace podere::source {
namespace {

constexpr std::string_view kFeature = "feature";

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

PictureNumbers features(const PictureQuery& query) {
  const auto layer =
      std::make_shared<const classify::FeatureLayer>(classify::NetworkOptions{.path = query.model,
                                                                              .preprocess = query.preprocess,
                                                                              .size = query.shape.width,
                                                                              .bits = query.bits,
                                                                              .layer = query.layer,
                                                                              .is_in_location = true});
  PictureNumbers numbers;
  numbers.decoding = layer->decoding();
  numbers.fingerprint = layer->fingerprint();
  numbers.names = layer->names();
  numbers.compute = [layer](const image::Picture& picture, const std::string& title, std::span<float> values) {
    layer->compute(picture, title, values);
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

PictureNumbers picture_numbers(const PictureQuery& query) {
  return query.model.empty() ? pixels(query.shape, query.bits) : features(query);
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
