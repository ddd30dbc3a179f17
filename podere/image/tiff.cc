// TIFF by libtiff: strips or tiles of samples, to 8 bits, to colors.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "podere/image/cmyk.h"
#include "podere/image/decoders.h"
#include "podere/image/memory_limit.h"
#include "podere/image/samples.h"
#include "podere/image/tiff_file.h"
#include "podere/image/tiff_page.h"
#include "podere/image/tiff_palette.h"
#include "podere/image/tiff_reader.h"

namespace podere::image {
namespace {

/// 8-bit samples [height][width][n_used] of a page.
struct Samples {
  unsigned n_used;
  std::vector<std::uint8_t> values;
};

SampleRange find_range(const TiffFile& file, const TiffPage& page, TiffReader& reader) {
  SampleRange range;
  if (page.type.kind != SampleKind::kFloat) return range;
  reader.for_each_unit([&](const TiffUnit& unit) {
    for (std::uint32_t y = 0; y < unit.height; ++y) {
      widen_range(unit.rows + y * unit.row_bytes, std::size_t{unit.width} * unit.n_samples, page.type, range);
    }
  });
  const auto shown = range.shown();
  if (!shown) throw_fault(FaultKind::kNotDecoded, "{}: has no pixel that is a finite number", file.name());
  return *shown;
}

Samples read_samples(const TiffFile& file, const TiffPage& page, TiffReader& reader, const DecodeOptions& options) {
  const SampleScale scale = {.range = find_range(file, page, reader), .n_bits = shown_bits(page.type, options)};
  const std::size_t n_used = page.n_used;
  Samples samples{page.n_used, std::vector<std::uint8_t>(std::size_t{page.width} * page.height * n_used)};
  std::vector<std::uint8_t> row;
  std::uint32_t bits = 0;  // that are not 0 in all of the values
  reader.for_each_unit([&](const TiffUnit& unit) {
    const std::size_t n_values = std::size_t{unit.width} * unit.n_samples;
    row.resize(n_values);
    for (std::uint32_t y = 0; y < unit.height; ++y) {
      const std::uint8_t* const in = unit.rows + y * unit.row_bytes;
      std::uint8_t* const out =
          samples.values.data() + ((std::size_t{unit.y} + y) * page.width + unit.x) * n_used + unit.sample;
      if (unit.n_samples == n_used) {
        bits |= unpack_samples(in, n_values, page.type, scale, out);
        continue;
      }
      bits |= unpack_samples(in, n_values, page.type, scale, row.data());
      const std::size_t n_copied = page.is_planar ? 1 : n_used;
      for (std::size_t x = 0; x < unit.width; ++x) {
        for (std::size_t c = 0; c < n_copied; ++c) out[x * n_used + c] = row[x * unit.n_samples + c];
      }
    }
  });
  check_shown_bits(file.name(), page.type, bits, options);
  return samples;
}

/// Colors that were multiplied by the alpha behind them, without it: as Pillow's RGBa.
void divide_by_alpha(const std::uint8_t* in, std::size_t n_colors, std::uint8_t* out) {
  const unsigned alpha = in[n_colors];
  for (std::size_t c = 0; c < n_colors; ++c) {
    out[c] = alpha == 0 ? 0 : static_cast<std::uint8_t>(std::min(255U, in[c] * 255U / alpha));
  }
}

Picture to_colors(const TiffFile& file, const TiffPage& page, Samples samples) {
  if (page.colors == PHOTOMETRIC_PALETTE) return colors_of_palette(file, page, std::move(samples.values));
  if (page.colors == PHOTOMETRIC_MINISWHITE) {
    for (std::uint8_t& value : samples.values) value = static_cast<std::uint8_t>(~value);
  }
  const unsigned n_colors = page.n_colors();
  Picture picture;
  picture.width = page.width;
  picture.height = page.height;
  picture.n_channels = n_colors == 1 ? kGray : kRgb;
  if (n_colors != 4 && !page.has_scaled_alpha) {
    picture.pixels = std::move(samples.values);
    return picture;
  }
  picture.pixels.resize(std::size_t{page.width} * page.height * static_cast<std::size_t>(picture.n_channels));
  const std::uint8_t* in = samples.values.data();
  std::uint8_t* out = picture.pixels.data();
  for (; out != picture.pixels.data() + picture.pixels.size(); in += page.n_used, out += picture.n_channels) {
    page.has_scaled_alpha ? divide_by_alpha(in, n_colors, out) : cmyk_to_rgb(in, out);
  }
  return picture;
}

/// Colors as brightness and two differences, of which several pixels may share one: libtiff has all forms of it.
Picture read_ycbcr(TiffFile& file, const TiffPage& page, std::size_t max_bytes) {
  TIFF* const tiff = file.get();
  std::uint32_t width = page.width, height = 0;
  if (page.is_tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &height);
    height = std::min(height, page.height);
  }
  if (width == 0 || height == 0) file.fail();
  check_memory(file.name(), width, height, 4 * 2, 0, max_bytes / 2);
  check_memory(file.name(), page.width, page.height, 2 * kRgb, 0, max_bytes / 2);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // it comes later
  Picture picture(page.width, page.height, kRgb);
  std::vector<std::uint32_t> raster(std::size_t{width} * height);
  for (std::uint32_t y = 0; y < page.height; y += std::min(height, page.height - y)) {
    for (std::uint32_t x = 0; x < page.width; x += std::min(width, page.width - x)) {
      const bool is_read = page.is_tiled ? TIFFReadRGBATileExt(tiff, x, y, raster.data(), 1) == 1
                                         : TIFFReadRGBAStripExt(tiff, y, raster.data(), 1) == 1;
      if (!is_read || file.has_complaint()) file.fail();
      // From the lowest row up; a tile is always a whole one.
      const std::uint32_t n_rows = std::min(height, page.height - y);
      const std::uint32_t n_raster_rows = page.is_tiled ? height : n_rows;
      for (std::uint32_t row = 0; row < n_rows; ++row) {
        const std::uint32_t* in = raster.data() + std::size_t{n_raster_rows - 1 - row} * width;
        std::uint8_t* out = picture.row(y + row) + std::size_t{x} * kRgb;
        for (std::uint32_t i = 0; i < std::min(width, page.width - x); ++i, out += kRgb) {
          out[0] = static_cast<std::uint8_t>(TIFFGetR(in[i]));
          out[1] = static_cast<std::uint8_t>(TIFFGetG(in[i]));
          out[2] = static_cast<std::uint8_t>(TIFFGetB(in[i]));
        }
      }
    }
  }
  return picture;
}

/// As the orientation says the picture is to be seen: the place (0, 0) of its rows is top left, top right, ...
Picture turned(Picture picture, std::uint16_t orientation) {
  if (orientation <= ORIENTATION_TOPLEFT || orientation > ORIENTATION_LEFTBOT) return picture;
  const bool swaps = orientation >= ORIENTATION_LEFTTOP;
  const bool from_right = orientation == ORIENTATION_TOPRIGHT || orientation == ORIENTATION_BOTRIGHT ||
                          orientation == ORIENTATION_RIGHTTOP || orientation == ORIENTATION_RIGHTBOT;
  const bool from_below = orientation == ORIENTATION_BOTRIGHT || orientation == ORIENTATION_BOTLEFT ||
                          orientation == ORIENTATION_RIGHTBOT || orientation == ORIENTATION_LEFTBOT;
  Picture out(swaps ? picture.height : picture.width, swaps ? picture.width : picture.height, picture.n_channels);
  const auto n = static_cast<std::size_t>(picture.n_channels);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    for (std::uint32_t x = 0; x < picture.width; ++x) {
      const std::uint32_t column = swaps ? y : x, row = swaps ? x : y;
      const std::uint32_t to_x = from_right ? out.width - 1 - column : column;
      const std::uint32_t to_y = from_below ? out.height - 1 - row : row;
      std::memcpy(out.row(to_y) + to_x * n, picture.row(y) + x * n, n);
    }
  }
  return out;
}

}  // namespace

Picture decode_tiff(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  TiffFile file(bytes, name, options.max_bytes);
  file.go_to(options.page);
  TiffPage page = read_tiff_page(file);
  file.forget_complaints();
  if (page.colors == PHOTOMETRIC_YCBCR) {
    if (page.compression != COMPRESSION_JPEG || page.is_planar) {
      return turned(read_ycbcr(file, page, options.max_bytes), page.orientation);
    }
    TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg makes RGB of it
    page.colors = PHOTOMETRIC_RGB;
  }
  TiffReader reader(file, page, options.max_bytes);
  return turned(to_colors(file, page, read_samples(file, page, reader, options)), page.orientation);
}

std::uint32_t count_tiff_pages(Bytes bytes, const std::string& name) {
  return TiffFile(bytes, name, kMostPictureBytes).count_pages();
}

}  // namespace podere::image
