// What a page of a TIFF says of itself.
#pragma once

#include <cstdint>

#include "podere/image/samples.h"
#include "podere/image/tiff_file.h"

namespace podere::image {

/// What a page says of itself.
struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  SampleType type;
  unsigned n_samples = 1;         // of a pixel
  unsigned n_used = 1;            // of them, from the first: not alpha, unless it is to be divided out
  bool has_scaled_alpha = false;  // behind the colors, and they are multiplied by it
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t colors = PHOTOMETRIC_MINISBLACK;
  bool is_planar = false;  // each sample lies in strips of its own
  bool is_tiled = false;
  std::uint16_t orientation = ORIENTATION_TOPLEFT;

  /// Samples of a pixel that are its color.
  unsigned n_colors() const;
};

/// Of the page that the file stands at. Throws PictureFault for one that is not decoded.
TiffPage read_tiff_page(const TiffFile& file);

}  // namespace podere::image
