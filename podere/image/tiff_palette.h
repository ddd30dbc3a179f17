// The colors of a TIFF that has a palette.
#pragma once

#include <cstdint>
#include <vector>

#include "podere/image/tiff_page.h"

namespace podere::image {

/// The picture whose pixels have the colors at these places of the file's palette; gray if all of them are.
/// `places` are 8 bits, of fewer than these too: then they were spread over the range.
Picture colors_of_palette(const TiffFile& file, const TiffPage& page, std::vector<std::uint8_t> places);

}  // namespace podere::image
