// JPEG by libjpeg.
#include "podere/image/encode_jpeg.h"

// clang-format off
#include <cstdio>    // which the next one needs
#include <jpeglib.h>
// clang-format on

#include <csetjmp>
#include <cstdlib>

#include "podere/base/error.h"

namespace podere::image {
namespace {

/// What libjpeg is given. It ends functions by longjmp: write_jpeg, which calls them, has nothing to destroy.
struct JpegOutput {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  std::jmp_buf failed{};
  char message[JMSG_LENGTH_MAX] = "";
  unsigned char* bytes = nullptr;  // of malloc
  unsigned long n_bytes = 0;       // NOLINT(google-runtime-int): libjpeg's type

  JpegOutput() = default;
  ~JpegOutput() {
    jpeg_destroy_compress(&encoder);
    std::free(bytes);
  }
  JpegOutput(const JpegOutput&) = delete;
  JpegOutput& operator=(const JpegOutput&) = delete;
};

[[noreturn]] void fail_output(j_common_ptr encoder) {
  JpegOutput& output = *static_cast<JpegOutput*>(encoder->client_data);
  encoder->err->format_message(encoder, output.message);
  std::longjmp(output.failed, 1);
}

/// Whether it came to its end.
bool write_jpeg(Picture& picture, int quality, JpegOutput& output) {
  jpeg_compress_struct& encoder = output.encoder;
  if (setjmp(output.failed) != 0) return false;  // NOLINT(cert-err52-cpp): how libjpeg reports errors
  jpeg_create_compress(&encoder);
  encoder.client_data = &output;
  jpeg_mem_dest(&encoder, &output.bytes, &output.n_bytes);
  encoder.image_width = picture.width;
  encoder.image_height = picture.height;
  encoder.input_components = picture.n_channels;
  encoder.in_color_space = picture.n_channels == kGray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    JSAMPROW row = picture.row(y);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  return true;
}

}  // namespace

std::vector<std::uint8_t> encode_jpeg(Picture picture, int quality) {
  JpegOutput output;
  output.encoder.err = jpeg_std_error(&output.errors);
  output.errors.error_exit = fail_output;
  output.encoder.client_data = &output;
  if (!write_jpeg(picture, quality, output)) throw_error("a picture cannot be encoded as JPEG: {}", output.message);
  return {output.bytes, output.bytes + output.n_bytes};
}

}  // namespace podere::image
