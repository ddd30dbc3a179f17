// A TIFF in memory, opened by libtiff.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <string>

#include "podere/image/decode.h"

namespace podere::image {

/// libtiff reads the bytes where they are, prints nothing, and allocates no piece beyond `max_bytes`. For one thread.
class TiffFile {
 public:
  /// Stands at the first page. Throws PictureFault.
  TiffFile(Bytes bytes, const std::string& name, std::size_t max_bytes);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_.get(); }
  Bytes bytes() const { return bytes_; }
  const std::string& name() const { return name_; }

  /// Goes to a page, from 0. Throws PictureFault.
  void go_to(std::uint32_t page);
  /// With that at which it cannot be read further, if there is such: so that none is lost in silence.
  std::uint32_t count_pages();

  /// A tag of one number, or what holds where it is not there.
  template <typename T>
  T tag(std::uint32_t number, T absent) const {
    T value{};
    return TIFFGetField(get(), number, &value) == 1 ? value : absent;
  }

  /// Forgets complaints: of tags that are not used.
  void forget_complaints() { message_[0] = '\0'; }
  bool has_complaint() const { return message_[0] != '\0'; }
  /// Throws that what libtiff complained of last makes the file damaged.
  [[noreturn]] void fail() const;

 private:
  static int note_error(TIFF* tiff, void* file, const char* module, const char* format, va_list arguments);

  Bytes bytes_;
  const std::string& name_;
  std::uint64_t at_ = 0;
  char message_[256] = "";
  std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff_{nullptr, &TIFFClose};

  friend struct TiffCalls;
};

/// As TiffFile::count_pages of a file of the disk; 1 if it is no TIFF, or cannot be opened. Reads no pixels.
std::uint32_t count_tiff_pages(const std::string& path);

}  // namespace podere::image
