// Pictures of another size.
#pragma once

#include <array>
#include <cstdint>

#include "podere/base/enum_names.h"
#include "podere/image/picture.h"

namespace podere::image {

/// As Pillow has them.
enum class Filter { kBox, kBilinear, kBicubic, kLanczos };
constexpr EnumNames<4> names_of(Filter /*enumeration*/) {
  return {"filter", {"box", "bilinear", "bicubic", "lanczos"}};
}

/// The picture as width x height, antialiased: bit for bit what Pillow's Image.resize gives with this filter for 8-bit
/// pictures. Two passes, first along rows, of sums of whole numbers, so that every machine has the same bits.
/// Precondition: nothing is 0. Thread-safe.
Picture resize(const Picture& picture, std::uint32_t width, std::uint32_t height, Filter filter = Filter::kBilinear);

/// The shorter side becomes `side`, the other one in proportion, rounded down; then the middle is cut out, and what is
/// missing of a smaller picture is black: as torchvision's Resize and CenterCrop. Only what is kept is made, so that a
/// picture of 1 x 10^6 pixels takes no more memory than others.
Picture resize_shortest_and_crop(const Picture& picture, std::uint32_t side, std::uint32_t width, std::uint32_t height,
                                 Filter filter = Filter::kBilinear);

/// In the middle of a picture of one color. Precondition: it fits in. A gray picture stays gray if the color is.
Picture pad(const Picture& picture, std::uint32_t width, std::uint32_t height, std::array<std::uint8_t, 3> color = {});

/// How a picture comes to a given size: its proportions change; what is beyond the middle is cut off; or what is
/// missing is black.
enum class Fit { kStretch, kCrop, kPad };
constexpr EnumNames<3> names_of(Fit /*enumeration*/) { return {"fit", {"stretch", "crop", "pad"}}; }
using podere::to_string;

Picture resize_to_fit(const Picture& picture, std::uint32_t width, std::uint32_t height, Fit fit,
                      Filter filter = Filter::kBilinear);

}  // namespace podere::image
