#include "podere/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "podere/image/weights.h"

namespace podere::image {
namespace {

/// Rows [first, first + n_rows) with a new width.
Picture resample_rows(const Picture& picture, std::uint32_t first, std::uint32_t n_rows, std::uint32_t width,
                      Filter filter) {
  const Weights weights = find_weights(picture.width, width, filter);
  Picture out(width, n_rows, picture.n_channels);
  const auto n = static_cast<std::size_t>(picture.n_channels);
  const std::size_t n_padded = picture.width + weights.n_weights();
  std::vector<std::uint8_t> channels(n * n_padded);
  for (std::uint32_t y = 0; y < n_rows; ++y) {
    const std::uint8_t* const row = picture.row(first + y);
    if (n == 1) {
      std::memcpy(channels.data(), row, picture.width);
    } else {
      split_channels(row, picture.width, channels.data(), channels.data() + n_padded, channels.data() + 2 * n_padded);
    }
    for (std::size_t c = 0; c < n; ++c) resample_row(channels.data() + c * n_padded, weights, out.row(y) + c, n);
  }
  return out;
}

/// With a new height, from a picture that begins at row `first` of what `weights` are for.
Picture resample_columns(const Picture& picture, std::uint32_t first, const Weights& weights) {
  Picture out(picture.width, static_cast<std::uint32_t>(weights.first.size()), picture.n_channels);
  for (std::uint32_t y = 0; y < out.height; ++y) {
    combine_rows(picture.row(weights.first[y] - first), picture.row_bytes(),
                 weights.weights.data() + y * weights.n_weights(), weights.count[y], picture.row_bytes(), out.row(y));
  }
  return out;
}

/// Where the middle begins, as Python's round((size - wanted) / 2): half to even.
std::uint32_t middle(std::uint32_t size, std::uint32_t wanted) {
  const std::uint32_t twice = size - wanted;
  const std::uint32_t half = twice / 2;
  return twice % 2 == 0 || half % 2 == 0 ? half : half + 1;
}

}  // namespace

Picture resize(const Picture& picture, std::uint32_t width, std::uint32_t height, Filter filter) {
  if (height == picture.height) {
    return width == picture.width ? picture : resample_rows(picture, 0, picture.height, width, filter);
  }
  const Weights down = find_weights(picture.height, height, filter);
  if (width == picture.width) return resample_columns(picture, 0, down);
  const std::uint32_t first = down.first.front();
  const std::uint32_t end = down.first.back() + down.count.back();
  return resample_columns(resample_rows(picture, first, end - first, width, filter), first, down);
}

Picture resize_shortest(const Picture& picture, std::uint32_t side, Filter filter) {
  const auto longer = [&](std::uint32_t of, std::uint32_t to) {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::uint64_t{side} * of / to));
  };
  return picture.width <= picture.height ? resize(picture, side, longer(picture.height, picture.width), filter)
                                         : resize(picture, longer(picture.width, picture.height), side, filter);
}

Picture crop_center(const Picture& picture, std::uint32_t width, std::uint32_t height) {
  const std::uint32_t kept_width = std::min(width, picture.width), kept_height = std::min(height, picture.height);
  const auto n = static_cast<std::size_t>(picture.n_channels);
  Picture kept(kept_width, kept_height, picture.n_channels);
  const std::uint32_t x = middle(picture.width, kept_width), y = middle(picture.height, kept_height);
  for (std::uint32_t row = 0; row < kept_height; ++row) {
    std::memcpy(kept.row(row), picture.row(y + row) + x * n, kept.row_bytes());
  }
  return kept_width == width && kept_height == height ? kept : pad(kept, width, height);
}

Picture pad(const Picture& picture, std::uint32_t width, std::uint32_t height, std::array<std::uint8_t, 3> color) {
  const bool is_gray = color[0] == color[1] && color[0] == color[2];
  if (picture.n_channels == kGray && !is_gray) return pad(to_rgb(picture), width, height, color);
  Picture out(width, height, picture.n_channels);
  const auto n = static_cast<std::size_t>(picture.n_channels);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) out.pixels[i] = color[i % n];
  const std::size_t x = (width - picture.width) / 2;
  const std::uint32_t y = (height - picture.height) / 2;
  for (std::uint32_t row = 0; row < picture.height; ++row) {
    std::memcpy(out.row(y + row) + x * n, picture.row(row), picture.row_bytes());
  }
  return out;
}

Picture resize_to_fit(const Picture& picture, std::uint32_t width, std::uint32_t height, Fit fit, Filter filter) {
  if (fit == Fit::kStretch) return resize(picture, width, height, filter);
  const double wide = static_cast<double>(width) / picture.width, high = static_cast<double>(height) / picture.height;
  // The side that sets the scale comes to its length, the other one to the nearest in proportion.
  const bool by_width = (fit == Fit::kCrop) == (wide > high);
  const auto scaled = [](std::uint32_t side, double scale) {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::floor(side * scale + 0.5)));
  };
  const std::uint32_t new_width = by_width ? width : scaled(picture.width, high);
  const std::uint32_t new_height = by_width ? scaled(picture.height, wide) : height;
  const Picture sized = resize(picture, fit == Fit::kCrop ? std::max(new_width, width) : std::min(new_width, width),
                               fit == Fit::kCrop ? std::max(new_height, height) : std::min(new_height, height), filter);
  return fit == Fit::kCrop ? crop_center(sized, width, height) : pad(sized, width, height);
}

}  // namespace podere::image
