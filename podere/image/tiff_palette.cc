#include "podere/image/tiff_palette.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace podere::image {
namespace {

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// The upper 8 of 16 bits, as Pillow has it. What the file has no color for is black.
Palette read_palette(const TiffFile& file, const TiffPage& page) {
  std::array<const std::uint16_t*, 3> ramps{};
  if (TIFFGetField(file.get(), TIFFTAG_COLORMAP, &ramps[0], &ramps[1], &ramps[2]) != 1) file.fail();
  Palette palette{};
  for (std::size_t i = 0; i < std::size_t{1} << page.type.n_bits; ++i) {
    for (std::size_t c = 0; c < 3; ++c) palette[i][c] = static_cast<std::uint8_t>(ramps[c][i] >> 8);
  }
  return palette;
}

/// Whether one of `values` lies in [least, largest]: without a branch, so that it is fast.
bool has_between(const std::vector<std::uint8_t>& values, unsigned least, unsigned largest) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t begin = 0; begin < values.size(); begin += kPiece) {
    std::uint8_t found = 0;
    for (std::size_t i = begin; i < std::min(values.size(), begin + kPiece); ++i) {
      found |= static_cast<std::uint8_t>(static_cast<std::uint8_t>(values[i] - least) <= largest - least);
    }
    if (found != 0) return true;
  }
  return false;
}

/// Whether all pixels have colors that are gray.
bool uses_gray_alone(const std::vector<std::uint8_t>& places, const Palette& palette) {
  unsigned least = 256, largest = 0;  // place of a color
  for (unsigned i = 0; i < 256; ++i) {
    if (palette[i][0] == palette[i][1] && palette[i][0] == palette[i][2]) continue;
    least = std::min(least, i);
    largest = i;
  }
  if (least > largest || !has_between(places, least, largest)) return true;
  return std::ranges::all_of(places, [&](std::uint8_t place) {
    return palette[place][0] == palette[place][1] && palette[place][0] == palette[place][2];
  });
}

/// The colors at these places. A color is four bytes of a word here, and two pixels are written at once, which is less
/// than half the work; what is behind them is written over by the next.
void look_up(const std::vector<std::uint8_t>& places, const Palette& palette, std::uint8_t* out) {
  std::array<std::uint64_t, 256> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t c = kRgb; c-- > 0;) words[i] = words[i] << 8 | palette[i][c];
  }
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; i + 3 < places.size(); i += 2, out += 2 * kRgb) {
      const std::uint64_t two = words[places[i]] | words[places[i + 1]] << (8 * kRgb);
      std::memcpy(out, &two, sizeof(two));
    }
  }
  for (; i < places.size(); ++i, out += kRgb) std::memcpy(out, palette[places[i]].data(), kRgb);
}

}  // namespace

Picture colors_of_palette(const TiffFile& file, const TiffPage& page, std::vector<std::uint8_t> places) {
  Palette palette = read_palette(file, page);
  const unsigned n_colors = 1U << page.type.n_bits;
  if (n_colors < 256) {
    Palette spread{};
    for (unsigned i = 0; i < n_colors; ++i) spread[(i * 255 + (n_colors - 1) / 2) / (n_colors - 1)] = palette[i];
    palette = spread;
  }
  Picture picture;
  picture.width = page.width;
  picture.height = page.height;
  if (uses_gray_alone(places, palette)) {
    picture.n_channels = kGray;
    bool is_plain = true;
    for (unsigned i = 0; i < 256; ++i) is_plain = is_plain && palette[i][0] == i;
    if (!is_plain) {
      for (std::uint8_t& value : places) value = palette[value][0];
    }
    picture.pixels = std::move(places);
    return picture;
  }
  picture.pixels.resize(places.size() * kRgb);
  look_up(places, palette, picture.pixels.data());
  return picture;
}

}  // namespace podere::image
