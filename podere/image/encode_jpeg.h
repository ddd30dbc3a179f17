// Pictures as JPEG files.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/image/picture.h"

namespace podere::image {

inline constexpr std::uint32_t kMostJpegSide = 65500;

/// A gray picture stays gray. `quality`: 1 to 100. Precondition: no side is 0 or beyond kMostJpegSide. Thread-safe.
/// Throws Error.
std::vector<std::uint8_t> encode_jpeg(Picture picture, int quality);

}  // namespace podere::image
