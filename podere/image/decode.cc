#include "podere/image/decode.h"

#include <algorithm>

#include "podere/image/decoders.h"
#include "podere/image/first_bytes.h"

namespace podere::image {
namespace {

bool is_gray(const Picture& picture) {
  const std::uint8_t* const pixels = picture.pixels.data();
  const std::size_t n = picture.pixels.size() / kRgb;
  for (std::size_t begin = 0; begin < n; begin += 256) {  // so far without a branch
    unsigned difference = 0;
    for (std::size_t i = begin; i < std::min(n, begin + 256); ++i) {
      difference |= static_cast<unsigned>(pixels[3 * i] ^ pixels[3 * i + 1]) |
                    static_cast<unsigned>(pixels[3 * i] ^ pixels[3 * i + 2]);
    }
    if (difference != 0) return false;
  }
  return true;
}

/// Gray if all its pixels are.
Picture reduced(Picture picture) {
  if (picture.n_channels == kGray || !is_gray(picture)) return picture;
  Picture gray(picture.width, picture.height, kGray);
  for (std::size_t i = 0; i < gray.pixels.size(); ++i) gray.pixels[i] = picture.pixels[3 * i];
  return gray;
}

void refuse_page(const std::string& name, std::uint32_t page) {
  if (page == 0) return;
  throw_fault(FaultKind::kNoPage, "{}: has 1 page, and page {} is asked for; pages count from 0", name, page);
}

}  // namespace

Picture decode(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  switch (find_format(bytes, name)) {
    case Format::kTiff:
      return reduced(decode_tiff(bytes, name, options));
    case Format::kJpeg:
      refuse_page(name, options.page);
      return reduced(decode_jpeg(bytes, name, options));
    default:
      refuse_page(name, options.page);
      return reduced(decode_png(bytes, name, options));
  }
}

std::uint32_t count_pages(Bytes bytes, const std::string& name) {
  return find_format(bytes, name) == Format::kTiff ? count_tiff_pages(bytes, name) : 1;
}

}  // namespace podere::image
