#include "podere/image/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace podere::image {
namespace {

/// Five columns of seven dots, the lowest bit on top.
struct Glyph {
  char letter;
  std::array<std::uint8_t, 5> columns;
};

constexpr Glyph kGlyphs[] = {{'0', {0x3e, 0x51, 0x49, 0x45, 0x3e}}, {'1', {0x00, 0x42, 0x7f, 0x40, 0x00}},
                             {'2', {0x42, 0x61, 0x51, 0x49, 0x46}}, {'3', {0x21, 0x41, 0x45, 0x4b, 0x31}},
                             {'4', {0x18, 0x14, 0x12, 0x7f, 0x10}}, {'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
                             {'6', {0x3c, 0x4a, 0x49, 0x49, 0x30}}, {'7', {0x01, 0x71, 0x09, 0x05, 0x03}},
                             {'8', {0x36, 0x49, 0x49, 0x49, 0x36}}, {'9', {0x06, 0x49, 0x49, 0x29, 0x1e}},
                             {'A', {0x7e, 0x11, 0x11, 0x11, 0x7e}}, {'D', {0x7f, 0x41, 0x41, 0x22, 0x1c}},
                             {'E', {0x7f, 0x49, 0x49, 0x49, 0x41}}, {'G', {0x3e, 0x41, 0x49, 0x49, 0x7a}},
                             {'H', {0x7f, 0x08, 0x08, 0x08, 0x7f}}, {'I', {0x00, 0x41, 0x7f, 0x41, 0x00}},
                             {'K', {0x7f, 0x08, 0x14, 0x22, 0x41}}, {'L', {0x7f, 0x40, 0x40, 0x40, 0x40}},
                             {'M', {0x7f, 0x02, 0x0c, 0x02, 0x7f}}, {'S', {0x46, 0x49, 0x49, 0x49, 0x31}},
                             {'T', {0x01, 0x01, 0x7f, 0x01, 0x01}}, {'V', {0x1f, 0x20, 0x40, 0x20, 0x1f}},
                             {'W', {0x3f, 0x40, 0x38, 0x40, 0x3f}}, {'X', {0x63, 0x14, 0x08, 0x14, 0x63}},
                             {'a', {0x20, 0x54, 0x54, 0x54, 0x78}}, {'e', {0x38, 0x54, 0x54, 0x54, 0x18}},
                             {'g', {0x0c, 0x52, 0x52, 0x52, 0x3e}}, {'i', {0x00, 0x44, 0x7d, 0x40, 0x00}},
                             {'k', {0x7f, 0x10, 0x28, 0x44, 0x00}}, {'l', {0x00, 0x41, 0x7f, 0x40, 0x00}},
                             {'m', {0x7c, 0x04, 0x18, 0x04, 0x78}}, {'n', {0x7c, 0x08, 0x04, 0x04, 0x78}},
                             {'s', {0x48, 0x54, 0x54, 0x54, 0x20}}, {'u', {0x7c, 0x20, 0x20, 0x10, 0x3c}},
                             {'=', {0x14, 0x14, 0x14, 0x14, 0x14}}, {'.', {0x00, 0x60, 0x60, 0x00, 0x00}}};

}  // namespace

std::uint32_t write_text(Picture& picture, std::uint32_t x, std::uint32_t y, std::uint32_t scale,
                         std::string_view text) {
  for (const char letter : text) {
    const auto* const glyph =
        std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.letter == letter; });
    for (std::uint32_t i = 0; glyph != std::end(kGlyphs) && i < 5 * 7 * scale * scale; ++i) {
      const std::uint32_t dx = i % (5 * scale), dy = i / (5 * scale);
      if ((glyph->columns[dx / scale] >> (dy / scale) & 1) == 0) continue;
      if (x + dx < picture.width && y + dy < picture.height) picture.row(y + dy)[x + dx] = 255;
    }
    x += 6 * scale;
  }
  return x;
}

void add_legend(Picture& picture, double pixel_size_nm, std::string_view text) {
  const std::uint32_t top = picture.height - kLegendRows;
  std::fill(picture.row(top), picture.row(top) + kLegendRows * picture.row_bytes(), std::uint8_t{0});
  // The longest of 1, 2, 5, 10, ... nm that is at most 200 pixels.
  double bar = 1;
  for (int i = 0; bar * (i % 3 == 1 ? 2.5 : 2) <= 200 * pixel_size_nm; ++i) bar *= i % 3 == 1 ? 2.5 : 2;
  const auto n = static_cast<std::uint32_t>(bar / pixel_size_nm);
  for (std::uint32_t x = 20; x < 20 + n; ++x) {
    const bool is_end = x < 22 || x + 2 >= 20 + n;
    for (std::uint32_t y = is_end ? 34 : 39; y < (is_end ? 48U : 43U); ++y) picture.row(top + y)[x] = 255;
  }
  const std::string length = bar >= 1000 ? fmt::format("{:.0f} um", bar / 1000) : fmt::format("{:.0f} nm", bar);
  write_text(picture, 20, top + 10, 2, length);
  write_text(picture, 260, top + 18, 2, text);
}

}  // namespace podere::image
