#include "podere/image/picture.h"

#include <utility>

#include "podere/image/picture_fault.h"

namespace podere::image {

Picture to_rgb(Picture picture) {
  if (picture.n_channels == kRgb) return picture;
  Picture rgb(picture.width, picture.height, kRgb);
  std::uint8_t* out = rgb.pixels.data();
  for (const std::uint8_t value : picture.pixels) {
    out[0] = out[1] = out[2] = value;
    out += kRgb;
  }
  return rgb;
}

Picture to_gray(Picture picture) {
  if (picture.n_channels == kGray) return picture;
  // ITU-R Recommendation 601-2 in 16 bits, as Pillow's L24 has it.
  constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 0x8000;
  Picture gray(picture.width, picture.height, kGray);
  const std::uint8_t* in = picture.pixels.data();
  for (std::uint8_t& value : gray.pixels) {
    value = static_cast<std::uint8_t>((in[0] * kRed + in[1] * kGreen + in[2] * kBlue + kHalf) >> 16);
    in += kRgb;
  }
  return gray;
}

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kUnreadable:
      return "unreadable";
    case FaultKind::kEmpty:
      return "empty";
    case FaultKind::kOtherKind:
      return "another kind";
    case FaultKind::kNotDecoded:
      return "not decoded";
    case FaultKind::kNoPage:
      return "no such page";
    case FaultKind::kTooLarge:
      return "too large";
    case FaultKind::kEndsDecoder:
      return "ends its decoder";
    case FaultKind::kTooSlow:
      return "too slow";
    case FaultKind::kDamaged:
      return "damaged";
    case FaultKind::kNearlyBlack:
      return "nearly black";
  }
  return "";
}

}  // namespace podere::image
