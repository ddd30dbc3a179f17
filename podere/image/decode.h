// Pictures from the bytes of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "podere/image/picture.h"
#include "podere/image/picture_fault.h"

namespace podere::image {

using Bytes = std::span<const std::uint8_t>;

/// Memory that decoding one picture may take.
inline constexpr std::size_t kMostPictureBytes = std::size_t{512} << 20;

struct DecodeOptions {
  std::uint32_t page = 0;  ///< of a TIFF with several
  /// Of values above 8 bits how many are shown, 8 to 32: 2^n_bits and more is white. 0: all that the file has, and
  /// pictures that use few of them are refused.
  unsigned n_bits = 0;
  /// For the picture and what decoding needs beside it, `bytes` not counted.
  std::size_t max_bytes = kMostPictureBytes;
};

/// Decodes a TIFF, JPEG or PNG, known by its first bytes, to 8 bits: gray where all pixels are, else RGB. The values
/// are those of Pillow's convert("RGB") where the file has 8 bits or fewer. What else there may be:
///
///   palette        its colors, the upper 8 of their 16 bits
///   9 to 32 bits   the upper 8 of `options.n_bits`; negative numbers are black; 17 to 31 are refused
///   float          0 is black and 1 is white; where values are beyond these, the least and the largest of the picture;
///                  NaN is black
///   min-is-white   turned
///   CMYK, YCbCr    as Pillow turns them into RGB
///   alpha, tRNS    left out, as Pillow does
///   orientation    of a TIFF is applied; the EXIF orientation of a JPEG is not, as users of Pillow and torchvision
///   have it
///
/// `name` is what messages call it. Thread-safe; prints nothing. Throws PictureFault.
Picture decode(Bytes bytes, const std::string& name, const DecodeOptions& options = {});

/// How many pages there are: 1 for JPEG and PNG. Throws PictureFault.
std::uint32_t count_pages(Bytes bytes, const std::string& name);

}  // namespace podere::image
