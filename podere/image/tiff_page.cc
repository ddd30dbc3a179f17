#include "podere/image/tiff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace podere::image {
namespace {

/// libtiff's decoders that are used. Its others are of formats that no microscope writes, and have had the most faults.
bool is_known(std::uint16_t compression) {
  constexpr std::array<std::uint16_t, 11> kKnown = {
      COMPRESSION_NONE,    COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
      COMPRESSION_LZW,     COMPRESSION_JPEG,     COMPRESSION_PACKBITS,  COMPRESSION_ADOBE_DEFLATE,
      COMPRESSION_DEFLATE, COMPRESSION_ZSTD,     COMPRESSION_CCITTRLEW};
  return std::ranges::find(kKnown, compression) != kKnown.end();
}

/// Throws PictureFault for what is not. `format`: of its samples (tag 339).
void check_is_decoded(const TiffFile& file, const TiffPage& page, std::uint16_t format) {
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
  if (page.colors > PHOTOMETRIC_YCBCR || page.colors == PHOTOMETRIC_MASK) {
    refuse(
        fmt::format("has colors of a kind ({}) that is not decoded; allowed are gray, RGB, a palette, CMYK and YCbCr",
                    page.colors));
  }
  const unsigned n_colors = page.n_colors();
  if (page.n_samples < n_colors || page.n_samples > 64) {
    throw_fault(FaultKind::kNotDecoded, "{}: has {} samples a pixel, allowed are {} to 64; convert it to RGB",
                file.name(), page.n_samples, n_colors);
  }
  if (page.colors == PHOTOMETRIC_PALETTE && (page.type.kind != SampleKind::kUnsigned || page.type.n_bits > 8)) {
    refuse("has a palette for more than 256 colors, which is not decoded");
  }
}

}  // namespace

unsigned TiffPage::n_colors() const {
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

TiffPage read_tiff_page(const TiffFile& file) {
  TiffPage page;
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
  if (TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &page.colors) != 1) {
    throw_fault(FaultKind::kDamaged, "{}: is damaged: it does not say what its samples mean (tag 262); copy it again",
                file.name());
  }
  check_is_decoded(file, page, format);
  const unsigned n_colors = page.n_colors();
  std::uint16_t n_extra = 0;
  const std::uint16_t* extra = nullptr;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
  page.has_scaled_alpha = page.colors != PHOTOMETRIC_PALETTE && n_colors < 4 && page.n_samples == n_colors + 1 &&
                          n_extra == 1 && extra[0] == EXTRASAMPLE_ASSOCALPHA;
  page.n_used = n_colors + (page.has_scaled_alpha ? 1 : 0);
  return page;
}

}  // namespace podere::image
