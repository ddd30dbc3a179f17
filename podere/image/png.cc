// PNG by libpng.
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "podere/base/printable.h"
#include "podere/image/decoders.h"
#include "podere/image/memory_limit.h"
#include "podere/image/samples.h"

namespace podere::image {
namespace {

constexpr std::size_t kMostChunkBytes = std::size_t{8} << 20;  // of texts and color profiles, which are not used
constexpr unsigned kMostChunks = 1000;

/// What libpng is given. It ends functions by longjmp: those that call it, in `unless_failed`, have nothing to destroy.
struct PngState {
  Bytes bytes;
  std::size_t at = 0;
  char message[256] = "";
};

[[noreturn]] void fail_png(png_structp png, png_const_charp message) {
  auto& state = *static_cast<PngState*>(png_get_error_ptr(png));
  std::strncpy(state.message, message, sizeof state.message - 1);
  png_longjmp(png, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

void read_png_bytes(png_structp png, png_bytep out, std::size_t n) {
  auto& state = *static_cast<PngState*>(png_get_io_ptr(png));
  if (n > state.bytes.size() - state.at) png_error(png, "it is cut off");
  std::memcpy(out, state.bytes.data() + state.at, n);
  state.at += n;
}

class PngDecoder {
 public:
  PngDecoder(Bytes bytes, const std::string& name, const DecodeOptions& options) : name_(name), options_(options) {
    state_.bytes = bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, fail_png, ignore_png_warning);
    information_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (information_ != nullptr) return;
    png_destroy_read_struct(&png_, nullptr, nullptr);
    throw std::bad_alloc();
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &information_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  Picture decode() {
    run([&] {
      png_set_read_fn(png_, &state_, read_png_bytes);
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_memory comes next
      png_set_chunk_malloc_max(png_, kMostChunkBytes);
      png_set_chunk_cache_max(png_, kMostChunks);
      png_read_info(png_, information_);
      png_set_strip_alpha(png_);
      if (std::endian::native == std::endian::little) png_set_swap(png_);
      if (png_get_color_type(png_, information_) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
      if (png_get_color_type(png_, information_) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
      n_passes_ = png_set_interlace_handling(png_);
    });
    const std::uint32_t width = png_get_image_width(png_, information_);
    const std::uint32_t height = png_get_image_height(png_, information_);
    const std::size_t n_value_bytes = png_get_bit_depth(png_, information_) == 16 ? 2 : 1;
    const bool is_gray = (png_get_color_type(png_, information_) & ~PNG_COLOR_MASK_ALPHA) == PNG_COLOR_TYPE_GRAY;
    const std::uint64_t n_pixel_bytes = (is_gray ? kGray : kRgb) * (n_value_bytes == 2 ? 3 : 1);
    // libpng holds two rows of up to 8 bytes a pixel.
    check_memory(name_, width, height, n_pixel_bytes, std::uint64_t{width} * 16, options_.max_bytes);
    run([&] { png_read_update_info(png_, information_); });
    Picture picture(width, height, png_get_channels(png_, information_));
    if (png_get_rowbytes(png_, information_) != n_value_bytes * picture.row_bytes()) {
      throw_fault(FaultKind::kNotDecoded, "{}: has pixels of {} channels; save it again as RGB", name_,
                  picture.n_channels);
    }
    if (n_value_bytes == 1) {
      read_rows(picture.pixels.data(), picture.row_bytes(), height);
      return picture;
    }
    std::vector<std::uint8_t> values(2 * picture.pixels.size());
    read_rows(values.data(), 2 * picture.row_bytes(), height);
    const SampleType type{SampleKind::kUnsigned, 16};
    const std::uint32_t bits =
        unpack_samples(values.data(), picture.pixels.size(), type, {.range = {}, .n_bits = shown_bits(type, options_)},
                       picture.pixels.data());
    check_shown_bits(name_, type, bits, options_);
    return picture;
  }

 private:
  void read_rows(std::uint8_t* rows, std::size_t row_bytes, std::uint32_t height) {
    run([&] {
      for (int pass = 0; pass < n_passes_; ++pass) {
        for (std::uint32_t y = 0; y < height; ++y) png_read_row(png_, rows + y * row_bytes, nullptr);
      }
    });
  }

  /// `call` must have nothing to destroy.
  template <typename Call>
  bool unless_failed(const Call& call) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp): how libpng reports errors
    call();
    return true;
  }

  template <typename Call>
  void run(const Call& call) {
    if (unless_failed(call)) return;
    throw_fault(FaultKind::kDamaged, "{}: cannot be decoded as PNG: {}; copy it again", name_,
                printable_line(state_.message, 200));
  }

  const std::string& name_;
  const DecodeOptions& options_;
  PngState state_;
  png_structp png_ = nullptr;
  png_infop information_ = nullptr;
  int n_passes_ = 1;
};

}  // namespace

Picture decode_png(Bytes bytes, const std::string& name, const DecodeOptions& options) {
  return PngDecoder(bytes, name, options).decode();
}

}  // namespace podere::image
