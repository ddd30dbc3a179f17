// Images and the windows that slide over them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace podere::graph {

/// n pictures of h x w pixels of c channels, one pixel every `stride` floats: channels last.
struct Image {
  std::size_t n = 0;
  std::size_t h = 0;
  std::size_t w = 0;
  std::size_t c = 0;
  std::size_t stride = 0;

  std::size_t n_pixels() const { return n * h * w; }
};

struct Window {
  std::size_t kernel_h = 1;
  std::size_t kernel_w = 1;
  std::size_t stride_h = 1;
  std::size_t stride_w = 1;
  std::size_t dilation_h = 1;
  std::size_t dilation_w = 1;
  std::size_t pad_top = 0;
  std::size_t pad_left = 0;
  std::size_t pad_bottom = 0;
  std::size_t pad_right = 0;

  std::size_t n_taps() const { return kernel_h * kernel_w; }
};

/// Taps [begin, end) of a window that begins at `first` (which may be before the picture) and lie in [0, size).
struct Taps {
  std::size_t begin;
  std::size_t end;
};
inline Taps taps_inside(std::ptrdiff_t first, std::size_t n, std::size_t dilation, std::size_t size) {
  const auto step = static_cast<std::ptrdiff_t>(dilation);
  const std::ptrdiff_t begin = first < 0 ? (-first + step - 1) / step : 0;
  const std::ptrdiff_t room = static_cast<std::ptrdiff_t>(size) - first;
  const std::ptrdiff_t end = room <= 0 ? 0 : (room + step - 1) / step;
  const auto last = static_cast<std::ptrdiff_t>(n);
  const std::ptrdiff_t to = end < last ? end : last;
  return begin < to ? Taps{static_cast<std::size_t>(begin), static_cast<std::size_t>(to)} : Taps{0, 0};
}

}  // namespace podere::graph
