// TIFF by libtiff: strips or tiles of samples, to 8 bits, to colors.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "podere/image/cmyk.h"
#include "podere/image/decoders.h"
#include "podere/image/memory_limit.h"
#include "podere/image/samples.h"
#include "podere/image/tiff_file.h"

namespace podere::image {
namespace {

/// What a page says of itself.
struct Page {
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
};

/// libtiff's decoders that are used. Its others are of formats that no microscope writes, and have had the most faults.
bool is_known(std::uint16_t compression) {
  constexpr std::array<std::uint16_t, 11> kKnown = {
      COMPRESSION_NONE,    COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
      COMPRESSION_LZW,     COMPRESSION_JPEG,     COMPRESSION_PACKBITS,  COMPRESSION_ADOBE_DEFLATE,
      COMPRESSION_DEFLATE, COMPRESSION_ZSTD,     COMPRESSION_CCITTRLEW};
  return std::ranges::find(kKnown, compression) != kKnown.end();
}

unsigned colors_per_pixel(std::uint16_t colors) {
  switch (colors) {
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      return 3;
    case PHOTOMETRIC_SEPARATED:
      return 4;
    default:
      return 1;
  }
}

Page read_page(const TiffFile& file) {
  Page page;
  page.width = file.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  page.height = file.tag<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  const auto defaulted = [&](std::uint32_t number) {
    std::uint16_t value = 0;
    TIFFGetFieldDefaulted(file.get(), number, &value);
    return value;
  };
  page.type.n_bits = defaulted(TIFFTAG_BITSPERSAMPLE);
  page.n_samples = defaulted(TIFFTAG_SAMPLESPERPIXEL);
  page.compression = defaulted(TIFFTAG_COMPRESSION);
  page.is_planar = defaulted(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && page.n_samples > 1;
  page.orientation = defaulted(TIFFTAG_ORIENTATION);
  page.is_tiled = TIFFIsTiled(file.get()) != 0;
  const std::uint16_t format = defaulted(TIFFTAG_SAMPLEFORMAT);
  page.type.kind = format == SAMPLEFORMAT_IEEEFP ? SampleKind::kFloat
                   : format == SAMPLEFORMAT_INT  ? SampleKind::kSigned
                                                 : SampleKind::kUnsigned;
  const auto refuse = [&](const std::string& what) {
    throw_fault(FaultKind::kNotDecoded, "{}: {}; convert it, such as with ImageMagick: convert FILE FILE.png",
                file.name(), what);
  };
  if (format == SAMPLEFORMAT_COMPLEXIEEEFP || format == SAMPLEFORMAT_COMPLEXINT || !page.type.is_known()) {
    refuse(
        fmt::format("has samples of {} bits and format {}, which are not decoded; allowed are whole numbers of 1 to "
                    "16 and of 32 bits, and real ones of 16, 32 and 64",
                    page.type.n_bits, format));
  }
  for (const std::uint32_t tag : {TIFFTAG_IMAGEDEPTH, TIFFTAG_TILEDEPTH}) {
    if (const auto depth = file.tag<std::uint32_t>(tag, 1); depth > 1) {
      refuse(fmt::format("has {} layers in depth (tag {}), which are not decoded: allowed is 1", depth, tag));
    }
  }
  if (!is_known(page.compression)) {
    refuse(
        fmt::format("is packed in a way ({}) that is not decoded; allowed are none, LZW, Deflate, PackBits, JPEG, "
                    "ZSTD and fax",
                    page.compression));
  }
  if (TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &page.colors) != 1) {
    throw_fault(FaultKind::kDamaged, "{}: is damaged: it does not say what its samples mean (tag 262); copy it again",
                file.name());
  }
  if (page.colors > PHOTOMETRIC_YCBCR || page.colors == PHOTOMETRIC_MASK) {
    refuse(
        fmt::format("has colors of a kind ({}) that is not decoded; allowed are gray, RGB, a palette, CMYK and YCbCr",
                    page.colors));
  }
  const unsigned n_colors = colors_per_pixel(page.colors);
  if (page.n_samples < n_colors || page.n_samples > 64) {
    throw_fault(FaultKind::kNotDecoded, "{}: has {} samples a pixel, allowed are {} to 64; convert it to RGB",
                file.name(), page.n_samples, n_colors);
  }
  if (page.colors == PHOTOMETRIC_PALETTE && (page.type.kind != SampleKind::kUnsigned || page.type.n_bits > 8)) {
    refuse("has a palette for more than 256 colors, which is not decoded");
  }
  std::uint16_t n_extra = 0;
  const std::uint16_t* extra = nullptr;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
  page.has_scaled_alpha = page.colors != PHOTOMETRIC_PALETTE && n_colors < 4 && page.n_samples == n_colors + 1 &&
                          n_extra == 1 && extra[0] == EXTRASAMPLE_ASSOCALPHA;
  page.n_used = n_colors + (page.has_scaled_alpha ? 1 : 0);
  return page;
}

/// A strip or tile, whose rows are decoded.
struct Unit {
  const std::uint8_t* rows;
  std::size_t row_bytes;
  std::uint32_t x, y, width, height;  // where it lies in the picture, without what reaches beyond
  unsigned sample;                    // the first of those in it
  unsigned n_samples;                 // of a pixel in it
};

class PageReader {
 public:
  PageReader(TiffFile& file, const Page& page, std::size_t max_bytes) : file_(file), page_(page) {
    unit_bytes_ = page.is_tiled ? TIFFTileSize64(file.get()) : TIFFStripSize64(file.get());
    const std::uint64_t row_bytes = page.is_tiled ? TIFFTileRowSize64(file.get()) : TIFFScanlineSize64(file.get());
    if (page.is_tiled) {
      TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &unit_width_);
      TIFFGetField(file.get(), TIFFTAG_TILELENGTH, &unit_height_);
    } else {
      unit_width_ = page.width;
      TIFFGetFieldDefaulted(file.get(), TIFFTAG_ROWSPERSTRIP, &unit_height_);
      unit_height_ = std::min(unit_height_, page.height);
    }
    const bool becomes_rgb = page.colors == PHOTOMETRIC_PALETTE || page.colors == PHOTOMETRIC_SEPARATED;
    const bool turns = page.orientation != ORIENTATION_TOPLEFT;
    check_memory(file.name(), page.width, page.height,
                 std::uint64_t{page.n_used} + (becomes_rgb || page.has_scaled_alpha ? kRgb : 0) + (turns ? kRgb : 0),
                 unit_bytes_, max_bytes);
    const unsigned n_samples = page.is_planar ? 1 : page.n_samples;
    if (unit_bytes_ == 0 || unit_width_ == 0 || unit_height_ == 0 ||
        row_bytes < (std::uint64_t{unit_width_} * n_samples * page.type.n_bits + 7) / 8 ||
        unit_bytes_ < row_bytes * unit_height_) {
      file.fail();
    }
    row_bytes_ = static_cast<std::size_t>(row_bytes);
  }

  /// Calls take(Unit) for all that is used, row by row of units.
  template <typename Take>
  void for_each_unit(const Take& take) {
    const unsigned n_planes = page_.is_planar ? page_.n_used : 1;
    for (unsigned plane = 0; plane < n_planes; ++plane) {
      for (std::uint32_t y = 0; y < page_.height; y += std::min(unit_height_, page_.height - y)) {
        for (std::uint32_t x = 0; x < page_.width; x += std::min(unit_width_, page_.width - x)) {
          const std::uint32_t height = std::min(unit_height_, page_.height - y);
          take(Unit{.rows = read(x, y, plane, height),
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
  const std::uint8_t* read(std::uint32_t x, std::uint32_t y, unsigned plane, std::uint32_t height) {
    TIFF* const tiff = file_.get();
    const auto sample = static_cast<std::uint16_t>(plane);
    const std::uint32_t number =
        page_.is_tiled ? TIFFComputeTile(tiff, x, y, 0, sample) : TIFFComputeStrip(tiff, y, sample);
    const std::size_t n_bytes = page_.is_tiled ? static_cast<std::size_t>(unit_bytes_) : row_bytes_ * height;
    if (const std::uint8_t* const in_place = find_in_place(number, n_bytes)) return in_place;
    buffer_.resize(static_cast<std::size_t>(unit_bytes_));
    const auto wanted = static_cast<tmsize_t>(n_bytes);
    const tmsize_t n_read = page_.is_tiled ? TIFFReadEncodedTile(tiff, number, buffer_.data(), wanted)
                                           : TIFFReadEncodedStrip(tiff, number, buffer_.data(), wanted);
    if (n_read != wanted || file_.has_complaint()) file_.fail();
    return buffer_.data();
  }

  /// The samples in the file itself, where it has them as they are needed; null: it does not.
  const std::uint8_t* find_in_place(std::uint32_t number, std::size_t n_bytes) const {
    if (page_.compression != COMPRESSION_NONE || page_.type.n_bits != 8) return nullptr;
    const std::uint64_t offset = TIFFGetStrileOffset(file_.get(), number);
    const std::uint64_t n_there = TIFFGetStrileByteCount(file_.get(), number);
    const std::uint64_t n_file = file_.bytes().size();
    const bool is_there = n_there >= n_bytes && offset > 0 && offset < n_file && n_file - offset >= n_bytes &&
                          file_.tag<std::uint16_t>(TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_MSB2LSB;
    return is_there ? file_.bytes().data() + offset : nullptr;
  }

  TiffFile& file_;
  const Page& page_;
  std::uint64_t unit_bytes_ = 0;
  std::size_t row_bytes_ = 0;
  std::uint32_t unit_width_ = 0;
  std::uint32_t unit_height_ = 0;
  std::vector<std::uint8_t> buffer_;
};

/// 8-bit samples [height][width][n_used] of a page.
struct Samples {
  unsigned n_used;
  std::vector<std::uint8_t> values;
};

SampleRange find_range(const TiffFile& file, const Page& page, PageReader& reader) {
  SampleRange range;
  if (page.type.kind != SampleKind::kFloat) return range;
  reader.for_each_unit([&](const Unit& unit) {
    for (std::uint32_t y = 0; y < unit.height; ++y) {
      widen_range(unit.rows + y * unit.row_bytes, std::size_t{unit.width} * unit.n_samples, page.type, range);
    }
  });
  const auto shown = range.shown();
  if (!shown) throw_fault(FaultKind::kNotDecoded, "{}: has no pixel that is a number: all are NaN", file.name());
  return *shown;
}

Samples read_samples(const TiffFile& file, const Page& page, PageReader& reader, const DecodeOptions& options) {
  const SampleScale scale = {.range = find_range(file, page, reader), .n_bits = shown_bits(page.type, options)};
  const std::size_t n_used = page.n_used;
  Samples samples{page.n_used, std::vector<std::uint8_t>(std::size_t{page.width} * page.height * n_used)};
  std::vector<std::uint8_t> row;
  std::uint32_t bits = 0;  // that are not 0 in all of the values
  reader.for_each_unit([&](const Unit& unit) {
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

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// The upper 8 of 16 bits, as Pillow has it. What the file has no color for is black.
Palette read_palette(const TiffFile& file, const Page& page) {
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

/// `places` are 8 bits, of fewer than these too: then they were spread over the range.
Picture colors_of_palette(const TiffFile& file, const Page& page, std::vector<std::uint8_t> places) {
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

/// Colors that were multiplied by the alpha behind them, without it: as Pillow's RGBa.
void divide_by_alpha(const std::uint8_t* in, std::size_t n_colors, std::uint8_t* out) {
  const unsigned alpha = in[n_colors];
  for (std::size_t c = 0; c < n_colors; ++c) {
    out[c] = alpha == 0 ? 0 : static_cast<std::uint8_t>(std::min(255U, in[c] * 255U / alpha));
  }
}

Picture to_colors(const TiffFile& file, const Page& page, Samples samples) {
  if (page.colors == PHOTOMETRIC_PALETTE) return colors_of_palette(file, page, std::move(samples.values));
  if (page.colors == PHOTOMETRIC_MINISWHITE) {
    for (std::uint8_t& value : samples.values) value = static_cast<std::uint8_t>(~value);
  }
  const unsigned n_colors = colors_per_pixel(page.colors);
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
Picture read_ycbcr(TiffFile& file, const Page& page, std::size_t max_bytes) {
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
  Page page = read_page(file);
  file.forget_complaints();
  if (page.colors == PHOTOMETRIC_YCBCR) {
    if (page.compression != COMPRESSION_JPEG || page.is_planar) {
      return turned(read_ycbcr(file, page, options.max_bytes), page.orientation);
    }
    TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // libjpeg makes RGB of it
    page.colors = PHOTOMETRIC_RGB;
  }
  PageReader reader(file, page, options.max_bytes);
  return turned(to_colors(file, page, read_samples(file, page, reader, options)), page.orientation);
}

std::uint32_t count_tiff_pages(Bytes bytes, const std::string& name) {
  return TiffFile(bytes, name, kMostPictureBytes).count_pages();
}

}  // namespace podere::image
