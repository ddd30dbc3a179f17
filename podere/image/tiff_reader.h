// The samples of a TIFF, a strip or tile at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "podere/image/tiff_file.h"
#include "podere/image/tiff_page.h"

namespace podere::image {

/// A strip or tile, whose rows are decoded.
struct TiffUnit {
  const std::uint8_t* rows;
  std::size_t row_bytes;
  std::uint32_t x, y, width, height;  // where it lies in the picture, without what reaches beyond
  unsigned sample;                    // the first of those in it
  unsigned n_samples;                 // of a pixel in it
};

/// The strips or tiles of a page. For one thread.
class TiffReader {
 public:
  /// Throws PictureFault for a page beyond `max_bytes`, or whose units cannot be.
  TiffReader(TiffFile& file, const TiffPage& page, std::size_t max_bytes);

  /// Calls take(TiffUnit) for all that is used, row by row of units.
  template <typename Take>
  void for_each_unit(const Take& take) {
    const unsigned n_planes = page_.is_planar ? page_.n_used : 1;
    for (unsigned plane = 0; plane < n_planes; ++plane) {
      for (std::uint32_t y = 0; y < page_.height; y += std::min(unit_height_, page_.height - y)) {
        for (std::uint32_t x = 0; x < page_.width; x += std::min(unit_width_, page_.width - x)) {
          const std::uint32_t height = std::min(unit_height_, page_.height - y);
          take(TiffUnit{.rows = read(x, y, plane, height),
                        .row_bytes = row_bytes_,
                        .x = x,
                        .y = y,
                        .width = std::min(unit_width_, page_.width - x),
                        .height = height,
                        .sample = plane,
                        .n_samples = page_.is_planar ? 1 : page_.n_samples});
        }
      }
    }
  }

 private:
  const std::uint8_t* read(std::uint32_t x, std::uint32_t y, unsigned plane, std::uint32_t height);
  const std::uint8_t* find_in_place(std::uint32_t number, std::size_t n_bytes) const;

  TiffFile& file_;
  const TiffPage& page_;
  std::uint64_t unit_bytes_ = 0;
  std::size_t row_bytes_ = 0;
  std::uint32_t unit_width_ = 0;
  std::uint32_t unit_height_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace podere::image
