#include "podere/classify/preprocessing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/written_json.h"
#include "podere/image/resize.h"

namespace podere::classify {
namespace {

constexpr std::size_t kValues = 256;
constexpr std::size_t kMostJsonBytes = 1 << 16;

/// As torchvision's weights have it: the shorter side becomes 256 for networks of 224, 342 for those of 299.
Preprocessing for_imagenet(const InputShape& shape) {
  const auto shorter = static_cast<double>(std::min(shape.height, shape.width));
  return {.fit = image::Fit::kCrop,
          .shortest_side = static_cast<std::uint32_t>(std::lround(shorter / 0.875)),
          .mean = {0.485F, 0.456F, 0.406F},
          .std = {0.229F, 0.224F, 0.225F}};
}

struct Known {
  const char* name;
  Preprocessing (*of)(const InputShape& shape);
};
constexpr std::array kKnown = {
    Known{"imagenet", for_imagenet},
    Known{"inception", [](const InputShape& /*shape*/) { return Preprocessing{.mean = {0.5F}, .std = {0.5F}}; }},
    Known{"unit", [](const InputShape& /*shape*/) { return Preprocessing{}; }},
    Known{"raw", [](const InputShape& /*shape*/) { return Preprocessing{.divisor = 1}; }}};

Preprocessing read_preprocessing(const std::string& path) {
  std::ifstream in(path);
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(path, unknown)) {
    throw_input_error("{}: is no file that can be read; preprocessing is {} or a JSON file", path,
                      fmt::join(preprocessing_names(), ", "));
  }
  std::string text(kMostJsonBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  Preprocessing preprocessing;
  try {
    read_json(parse_written_object(text), path, preprocessing);
  } catch (const InputError& error) {
    const std::string_view what = error.what();
    if (what.starts_with(path)) throw;
    throw_input_error("{}: {}", path, what);
  }
  return preprocessing;
}

/// Throws InputError for a crop of more than there is in any picture: what is missing would be black.
void check_crop(const Preprocessing& preprocessing, const InputShape& shape, const std::string& path) {
  const std::uint32_t shorter = std::min(shape.height, shape.width);
  if (preprocessing.fit != image::Fit::kCrop || preprocessing.shortest_side == 0) return;
  if (preprocessing.shortest_side >= shorter) return;
  throw_input_error("{}: shortest_side is {}, of which {} cannot be cut out: allowed are {} to {}, or 0", path,
                    preprocessing.shortest_side, shorter, shorter, kMostSide);
}

}  // namespace

std::vector<std::string> preprocessing_names() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

bool is_preprocessing_name(const std::string& name) {
  return std::ranges::find(kKnown, name, &Known::name) != kKnown.end();
}

Preprocessing preprocessing_of(const std::string& name_or_path, const InputShape& shape) {
  const auto* const known = std::ranges::find(kKnown, name_or_path, &Known::name);
  if (known != kKnown.end()) return known->of(shape);
  Preprocessing read = read_preprocessing(name_or_path);
  check_crop(read, shape, name_or_path);
  return read;
}

Preparer::Preparer(const Preprocessing& preprocessing, const InputShape& shape, const std::string& name)
    : preprocessing_(preprocessing), shape_(shape) {
  const auto of_channel = [&](const std::vector<float>& values, const char* what, std::size_t channel) {
    if (values.size() != 1 && values.size() != shape.n_channels) {
      throw_input_error("{}: {} has {} numbers, and the network {} channels", name, what, values.size(),
                        shape.n_channels);
    }
    return values[values.size() == 1 ? 0 : channel];
  };
  if (preprocessing.shortest_side > static_cast<std::uint32_t>(kMostSide)) {
    throw_input_error("{}: shortest_side is {}, allowed are 0 to {}", name, preprocessing.shortest_side, kMostSide);
  }
  if (preprocessing.bits != 0 && (preprocessing.bits < kLeastBits || preprocessing.bits > kMostBits)) {
    throw_input_error("{}: bits is {}, allowed are {} to {}, or 0", name, preprocessing.bits, kLeastBits, kMostBits);
  }
  for (std::size_t channel = 0; channel < shape.n_channels; ++channel) {
    const float mean = of_channel(preprocessing.mean, "mean", channel);
    const float std = of_channel(preprocessing.std, "std", channel);
    if (!(preprocessing.divisor > 0) || !std::isfinite(preprocessing.divisor)) {
      throw_input_error("{}: divisor must be a number above 0", name);
    }
    if (!std::isfinite(mean)) throw_input_error("{}: mean must be finite numbers", name);
    if (!(std > 0) || !std::isfinite(std)) throw_input_error("{}: std must be numbers above 0", name);
    for (std::size_t value = 0; value < kValues; ++value) {
      const float scaled = static_cast<float>(value) / preprocessing.divisor;
      values_.push_back((scaled - mean) / std);
    }
  }
}

image::Picture Preparer::to_size(const image::Picture& picture) const {
  const image::Filter filter = preprocessing_.filter;
  switch (preprocessing_.fit) {
    case image::Fit::kStretch:
      break;
    case image::Fit::kCrop:
      if (preprocessing_.shortest_side != 0) {
        return image::resize_shortest_and_crop(picture, preprocessing_.shortest_side, shape_.width, shape_.height,
                                               filter);
      }
      return image::resize_to_fit(picture, shape_.width, shape_.height, image::Fit::kCrop, filter);
    case image::Fit::kPad:
      return image::resize_to_fit(picture, shape_.width, shape_.height, image::Fit::kPad, filter);
  }
  return image::resize(picture, shape_.width, shape_.height, filter);
}

image::Picture Preparer::resized(const image::Picture& picture) const {
  image::Picture small = to_size(picture);
  return shape_.n_channels == 1 ? image::to_gray(std::move(small)) : small;
}

void Preparer::fill(const image::Picture& small, std::span<float> input) const {
  const auto n_channels = static_cast<std::size_t>(small.n_channels);
  const std::size_t n_pixels = std::size_t{shape_.width} * shape_.height;
  const std::size_t pixel_stride = shape_.is_channels_last ? shape_.n_channels : 1;
  const std::size_t channel_stride = shape_.is_channels_last ? 1 : n_pixels;
  for (std::size_t to = 0; to < shape_.n_channels; ++to) {
    const std::size_t from = preprocessing_.channels == ChannelOrder::kBgr ? shape_.n_channels - 1 - to : to;
    const std::uint8_t* pixels = small.pixels.data() + (n_channels == 1 ? 0 : from);
    const float* values = values_.data() + to * kValues;
    float* out = input.data() + to * channel_stride;
    for (std::size_t i = 0; i < n_pixels; ++i) out[i * pixel_stride] = values[pixels[i * n_channels]];
  }
}

}  // namespace podere::classify
