// A picture in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace podere::image {

inline constexpr int kGray = 1;
inline constexpr int kRgb = 3;

/// 8-bit values [height][width][n_channels]. A gray picture has one channel, which stands for red, green and blue
/// alike: what is computed of each channel for itself, such as resize, comes to the same and costs a third.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int n_channels = kRgb;  ///< kGray or kRgb
  std::vector<std::uint8_t> pixels;

  Picture() = default;
  /// All black.
  Picture(std::uint32_t columns, std::uint32_t rows, int channels)
      : width(columns), height(rows), n_channels(channels), pixels(std::size_t{columns} * rows * channels) {}

  std::size_t row_bytes() const { return std::size_t{width} * static_cast<std::size_t>(n_channels); }
  std::uint8_t* row(std::uint32_t y) { return pixels.data() + y * row_bytes(); }
  const std::uint8_t* row(std::uint32_t y) const { return pixels.data() + y * row_bytes(); }
  bool operator==(const Picture&) const = default;
};

/// The same picture with three channels.
Picture to_rgb(Picture picture);
/// The same picture with one channel: of colors their brightness, (299 R + 587 G + 114 B) / 1000 rounded as Pillow
/// rounds it.
Picture to_gray(Picture picture);

}  // namespace podere::image
