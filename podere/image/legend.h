// The bar below a micrograph.
#pragma once

#include <cstdint>
#include <string_view>

#include "podere/image/picture.h"

namespace podere::image {

inline constexpr std::uint32_t kLegendRows = 56;

/// Writes `text` into a gray picture, white, its upper left corner at (x, y), each dot as scale x scale pixels. Has
/// digits, capitals, what units need and "=."; other characters are blanks. Returns where the text ends.
std::uint32_t write_text(Picture& picture, std::uint32_t x, std::uint32_t y, std::uint32_t scale,
                         std::string_view text);

/// Fills the lowest kLegendRows with a scale bar and what it stands for, and `text`.
void add_legend(Picture& picture, double pixel_size_nm, std::string_view text);

}  // namespace podere::image
