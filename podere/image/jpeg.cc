// JPEG by libjpeg.
// clang-format off
#include <cstdio>    // which the next one needs
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>

#include "podere/base/printable.h"
#include "podere/image/cmyk.h"
#include "podere/image/decoders.h"
#include "podere/image/memory_limit.h"

namespace podere::image {
namespace {

/// A progressive picture has about ten scans. Each costs a pass over all pixels, and may be a few bytes of the file.
constexpr int kMostScans = 200;

/// What libjpeg is given. It ends functions by longjmp: those that call it, in `guarded`, have nothing to destroy.
struct JpegState {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf failed{};
  char message[JMSG_LENGTH_MAX] = "";
  bool is_cut_off = false;
  bool has_wrong_codes = false;
  bool has_many_scans = false;
};

JpegState& state_of(j_common_ptr decoder) { return *static_cast<JpegState*>(decoder->client_data); }

[[noreturn]] void fail_jpeg(j_common_ptr decoder) {
  JpegState& state = state_of(decoder);
  decoder->err->format_message(decoder, state.message);
  std::longjmp(state.failed, 1);
}

void note_jpeg_message(j_common_ptr decoder, int level) {
  if (level >= 0) return;
  const int code = decoder->err->msg_code;
  if (code == JWRN_JPEG_EOF) state_of(decoder).is_cut_off = true;
  // Others, such as bytes between segments, cost no pixel.
  if (code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE || code == JWRN_HIT_MARKER ||
      code == JWRN_MUST_RESYNC) {
    state_of(decoder).has_wrong_codes = true;
  }
}

void check_scans(j_common_ptr decoder) {
  JpegState& state = state_of(decoder);
  if (state.decoder.input_scan_number <= kMostScans) return;
  state.has_many_scans = true;
  std::longjmp(state.failed, 1);
}

/// Whether `call`, which must have nothing to destroy, came to its end.
template <typename Call>
bool guarded(JpegState& state, const Call& call) {
  if (setjmp(state.failed) != 0) return false;  // NOLINT(cert-err52-cpp): how libjpeg reports errors
  call();
  return true;
}

class JpegDecoder {
 public:
  JpegDecoder(Bytes bytes, const std::string& name, const DecodeOptions& options)
      : bytes_(bytes), name_(name), options_(options) {
    state_.decoder.err = jpeg_std_error(&state_.errors);
    state_.errors.error_exit = fail_jpeg;
    state_.errors.emit_message = note_jpeg_message;
    state_.progress.progress_monitor = check_scans;
    state_.decoder.client_data = &state_;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&state_.decoder); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  Picture decode() {
    jpeg_decompress_struct& decoder = state_.decoder;
    run([&] {
      jpeg_create_decompress(&decoder);
      decoder.client_data = &state_;
      decoder.progress = &state_.progress;
      jpeg_mem_src(&decoder, bytes_.data(), bytes_.size());
      jpeg_read_header(&decoder, TRUE);
    });
    choose_colors();
    // Of a picture of several scans libjpeg holds 16-bit coefficients, in whole blocks.
    const unsigned coefficients = jpeg_has_multiple_scans(&decoder) ? 2 : 0;
    const auto n = static_cast<unsigned>(decoder.num_components);
    check_memory(name_, decoder.image_width, decoder.image_height, n * (1 + coefficients) + (n == 1 ? kGray : kRgb), 0,
                 options_.max_bytes);
    Picture picture(decoder.image_width, decoder.image_height, n == 1 ? kGray : kRgb);
    std::vector<std::uint8_t> inks(n == 4 ? std::size_t{4} * picture.width : 0);
    run([&] { jpeg_start_decompress(&decoder); });
    if (decoder.output_width != picture.width || decoder.output_height != picture.height) {
      throw_fault(FaultKind::kDamaged, "{}: is damaged: its size changes; copy it again", name_);
    }
    run([&] { read_rows(picture, inks.data()); });
    if (state_.is_cut_off) throw_fault(FaultKind::kDamaged, "{}: is damaged: it is cut off; copy it again", name_);
    run([&] { jpeg_finish_decompress(&decoder); });  // faults behind the last row may say that it came too early
    if (state_.has_wrong_codes) {
      throw_fault(FaultKind::kDamaged, "{}: is damaged: some of its pixels are lost; copy it again, or save it as PNG",
                  name_);
    }
    return picture;
  }

 private:
  template <typename Call>
  void run(const Call& call) {
    if (guarded(state_, call)) return;
    if (state_.has_many_scans) {
      throw_fault(FaultKind::kNotDecoded, "{}: has more than {} scans; save it again, as a plain JPEG or PNG", name_,
                  kMostScans);
    }
    throw_fault(FaultKind::kDamaged, "{}: cannot be decoded as JPEG: {}; copy it again, or save it as PNG", name_,
                printable_line(state_.message, 200));
  }

  void choose_colors() {
    switch (state_.decoder.num_components) {
      case 1:
        state_.decoder.out_color_space = JCS_GRAYSCALE;
        break;
      case 3:
        state_.decoder.out_color_space = JCS_RGB;
        break;
      case 4:
        state_.decoder.out_color_space = JCS_CMYK;
        break;
      default:
        throw_fault(FaultKind::kNotDecoded, "{}: has {} components, allowed are 1, 3 and 4; save it as PNG", name_,
                    state_.decoder.num_components);
    }
  }

  void read_rows(Picture& picture, std::uint8_t* inks) {
    while (state_.decoder.output_scanline < picture.height) {
      std::uint8_t* const row = picture.row(state_.decoder.output_scanline);
      std::uint8_t* line = inks != nullptr ? inks : row;
      if (jpeg_read_scanlines(&state_.decoder, &line, 1) != 1) break;
      if (inks == nullptr) continue;
      for (std::uint32_t x = 0; x < picture.width; ++x) {  // inverted, as Adobe's programs write them
        const std::uint8_t* in = inks + 4 * std::size_t{x};
        const std::uint8_t turned[] = {static_cast<std::uint8_t>(~in[0]), static_cast<std::uint8_t>(~in[1]),
                                       static_cast<std::uint8_t>(~in[2]), static_cast<std::uint8_t>(~in[3])};
        cmyk_to_rgb(turned, row + 3 * std::size_t{x});
      }
    }
  }

  Bytes bytes_;
  const std::string& name_;
  const DecodeOptions& options_;
  JpegState state_;
};

}  // namespace

Picture decode_jpeg(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  return JpegDecoder(bytes, name, options).decode();
}

}  // namespace podere::image
