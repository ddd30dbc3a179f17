// Inks to colors, as Pillow has them.
#pragma once

#include <cstdint>

namespace podere::image {

/// RGB of cyan, magenta, yellow and black, 0 to 255: the light that is left. As Pillow's cmyk2rgb.
inline void cmyk_to_rgb(const std::uint8_t* inks, std::uint8_t* rgb) {
  const unsigned light = 255U - inks[3];
  for (int c = 0; c < 3; ++c) {
    const unsigned product = inks[c] * light + 128;
    rgb[c] = static_cast<std::uint8_t>(light - ((product >> 8) + product) / 256);
  }
}

}  // namespace podere::image
