// libFuzzer program of the TIFF decoder: a picture within the limit of memory, or PictureFault.
#include "podere/image/decoders.h"
#include "podere/image/microscope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  const podere::image::Bytes input(bytes, n_bytes);
  const podere::image::DecodeOptions options = {.page = n_bytes % 7 == 1 ? 1U : 0U, .max_bytes = std::size_t{16} << 20};
  try {
    const auto picture = podere::image::decode_tiff(input, "input", options);
    if (picture.pixels.size() != picture.row_bytes() * picture.height || picture.pixels.empty()) __builtin_trap();
  } catch (const podere::image::PictureFault&) {
  }
  try {
    podere::image::read_microscope_facts(input, "input");
    podere::image::count_tiff_pages(input, "input");
  } catch (const podere::image::PictureFault&) {
  }
  return 0;
}
