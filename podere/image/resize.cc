#include "podere/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "podere/image/weights.h"

namespace podere::image {
namespace {

/// Rows [first, first + n_rows) with a new width.
Picture resample_rows(const Picture& picture, std::uint32_t first, std::uint32_t n_rows, const Weights& weights) {
  Picture out(static_cast<std::uint32_t>(weights.first.size()), n_rows, picture.n_channels);
  const std::size_t n_padded = picture.width + weights.n_weights();
  std::vector<std::uint8_t> row(n_padded);
  if (picture.n_channels == kGray) {
    for (std::uint32_t y = 0; y < n_rows; ++y) {
      std::memcpy(row.data(), picture.row(first + y), picture.width);
      resample_row(row.data(), weights, out.row(y));
    }
    return out;
  }
  std::array<std::vector<std::uint8_t>, kRgb> channels, resampled;
  channels.fill(row);
  resampled.fill(std::vector<std::uint8_t>(out.width));
  for (std::uint32_t y = 0; y < n_rows; ++y) {
    split_channels(picture.row(first + y), picture.width, channels[0].data(), channels[1].data(), channels[2].data());
    for (std::size_t c = 0; c < kRgb; ++c) resample_row(channels[c].data(), weights, resampled[c].data());
    join_channels(resampled[0].data(), resampled[1].data(), resampled[2].data(), out.width, out.row(y));
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

/// The part of a picture that lies at these places, which it has.
Picture cut(const Picture& picture, const Places& columns, const Places& rows) {
  const auto n = static_cast<std::size_t>(picture.n_channels);
  Picture kept(columns.n, rows.n, picture.n_channels);
  for (std::uint32_t y = 0; y < rows.n; ++y) {
    std::memcpy(kept.row(y), picture.row(static_cast<std::uint32_t>(rows.first) + y) + columns.first * n,
                kept.row_bytes());
  }
  return kept;
}

/// A picture's size while it is made another: a side may be longer than that of any picture.
struct Size {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
};

/// A part of what the picture is at a new size; the rest is not made.
Picture resize_part(const Picture& picture, const Size& size, const Places& columns, const Places& rows,
                    Filter filter) {
  const bool same_width = size.width == picture.width, same_height = size.height == picture.height;
  if (same_width && same_height) return cut(picture, columns, rows);
  const Weights across = same_width ? Weights() : find_weights(picture.width, size.width, columns, filter);
  if (same_height) {
    return resample_rows(picture, static_cast<std::uint32_t>(rows.first), rows.n, across);
  }
  const Weights down = find_weights(picture.height, size.height, rows, filter);
  const std::uint32_t first = down.first.front();
  const std::uint32_t n_rows = down.first.back() + down.count.back() - first;
  const Picture wide =
      same_width ? cut(picture, columns, {first, n_rows}) : resample_rows(picture, first, n_rows, across);
  return resample_columns(wide, first, down);
}

/// The middle of a side, from where Python's round((size - wanted) / 2) has it: half to even.
Places middle(std::uint64_t size, std::uint32_t wanted) {
  if (size <= wanted) return {0, static_cast<std::uint32_t>(size)};
  const std::uint64_t twice = size - wanted;
  const std::uint64_t half = twice / 2;
  return {twice % 2 == 0 || half % 2 == 0 ? half : half + 1, wanted};
}

/// The middle of what the picture is at a new size. What is missing is black.
Picture resize_middle(const Picture& picture, const Size& size, std::uint32_t width, std::uint32_t height,
                      Filter filter) {
  Picture kept = resize_part(picture, size, middle(size.width, width), middle(size.height, height), filter);
  return kept.width == width && kept.height == height ? kept : pad(kept, width, height);
}

}  // namespace

Picture resize(const Picture& picture, std::uint32_t width, std::uint32_t height, Filter filter) {
  return resize_part(picture, {width, height}, {0, width}, {0, height}, filter);
}

Picture resize_shortest_and_crop(const Picture& picture, std::uint32_t side, std::uint32_t width, std::uint32_t height,
                                 Filter filter) {
  const auto longer = [&](std::uint32_t of, std::uint32_t to) { return std::uint64_t{side} * of / to; };
  const Size size = picture.width <= picture.height ? Size{side, longer(picture.height, picture.width)}
                                                    : Size{longer(picture.width, picture.height), side};
  return resize_middle(picture, size, width, height, filter);
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
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::floor(side * scale + 0.5)));
  };
  const std::uint64_t new_width = by_width ? width : scaled(picture.width, high);
  const std::uint64_t new_height = by_width ? scaled(picture.height, wide) : height;
  if (fit == Fit::kCrop) {
    const Size size = {std::max<std::uint64_t>(new_width, width), std::max<std::uint64_t>(new_height, height)};
    return resize_middle(picture, size, width, height, filter);
  }
  const auto at_most = [](std::uint64_t side, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(side, most));
  };
  return pad(resize(picture, at_most(new_width, width), at_most(new_height, height), filter), width, height);
}

}  // namespace podere::image
