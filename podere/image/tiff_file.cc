#include "podere/image/tiff_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "podere/base/printable.h"

namespace podere::image {

/// How libtiff reads: `handle` is the TiffFile.
struct TiffCalls {
  static TiffFile& file(thandle_t handle) { return *static_cast<TiffFile*>(handle); }

  static tmsize_t read(thandle_t handle, void* out, tmsize_t n) {
    TiffFile& from = file(handle);
    const std::uint64_t left = from.bytes_.size() - std::min<std::uint64_t>(from.at_, from.bytes_.size());
    const std::uint64_t n_read = std::min<std::uint64_t>(left, n < 0 ? 0 : static_cast<std::uint64_t>(n));
    if (n_read > 0) std::memcpy(out, from.bytes_.data() + from.at_, n_read);
    from.at_ += n_read;
    return static_cast<tmsize_t>(n_read);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffFile& from = file(handle);
    const std::uint64_t base = whence == SEEK_CUR ? from.at_ : whence == SEEK_END ? from.bytes_.size() : 0;
    return from.at_ = base + offset;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return file(handle).bytes_.size(); }
  static int map(thandle_t handle, void** begin, toff_t* n) {
    *begin = const_cast<std::uint8_t*>(file(handle).bytes_.data());  // libtiff only reads it
    *n = file(handle).bytes_.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}
};

int TiffFile::note_error(TIFF*, void* file, const char*, const char* format, va_list arguments) {
  auto& self = *static_cast<TiffFile*>(file);
  // The first complaint is the cause, those behind it are what came of it.
  if (self.message_[0] == '\0') std::vsnprintf(self.message_, sizeof self.message_, format, arguments);
  return 1;
}

namespace {

using OpenOptions = std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)>;

int say_nothing(TIFF*, void*, const char*, const char*, va_list) { return 1; }

OpenOptions open_options(std::size_t max_bytes) {
  OpenOptions options(TIFFOpenOptionsAlloc(), &TIFFOpenOptionsFree);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(max_bytes));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), say_nothing, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), say_nothing, nullptr);
  return options;
}

}  // namespace

TiffFile::TiffFile(Bytes bytes, const std::string& name, std::size_t max_bytes) : bytes_(bytes), name_(name) {
  const OpenOptions options = open_options(max_bytes);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), note_error, this);
  // c: a strip is what the file calls so, and not cut into smaller ones.
  tiff_.reset(TIFFClientOpenExt("picture", "rc", this, TiffCalls::read, TiffCalls::write, TiffCalls::seek,
                                TiffCalls::close, TiffCalls::size, TiffCalls::map, TiffCalls::unmap, options.get()));
  if (tiff_ == nullptr) fail();
}

void TiffFile::go_to(std::uint32_t page) {
  if (page == 0) return;
  constexpr std::uint32_t kMostPages = 65535;  // libtiff counts in 16 bits
  if (page < kMostPages && TIFFSetDirectory(get(), static_cast<tdir_t>(page)) == 1) return;
  const std::uint32_t n = count_pages();
  if (page < n) fail();
  throw_fault(FaultKind::kNoPage, "{}: has {} page{}, and page {} is asked for; pages count from 0", name_, n,
              n == 1 ? "" : "s", page);
}

std::uint32_t TiffFile::count_pages() {
  forget_complaints();
  const std::uint32_t n = std::max<std::uint32_t>(TIFFNumberOfDirectories(get()), 1);
  return n + (has_complaint() ? 1 : 0);
}

std::uint32_t count_tiff_pages(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return 1;  // of a pipe nothing is waited for
  const OpenOptions options = open_options(kMostPictureBytes);
  bool has_complaint = false;
  TIFFOpenOptionsSetErrorHandlerExtR(
      options.get(),
      [](TIFF*, void* complains, const char*, const char*, va_list) {
        *static_cast<bool*>(complains) = true;
        return 1;
      },
      &has_complaint);
  // m: read where it is asked for, as a file that becomes shorter meanwhile would end the process otherwise.
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(TIFFOpenExt(path.c_str(), "rm", options.get()), &TIFFClose);
  if (tiff == nullptr) return 1;
  has_complaint = false;
  const std::uint32_t n = std::max<std::uint32_t>(TIFFNumberOfDirectories(tiff.get()), 1);
  return n + (has_complaint ? 1 : 0);
}

void TiffFile::fail() const {
  const std::string_view message = message_[0] == '\0' ? "its pixels cannot be read" : message_;
  throw_fault(FaultKind::kDamaged, "{}: cannot be decoded as TIFF: {}; copy it again", name_,
              printable_line(message.substr(0, message.find_last_not_of(".;! \n") + 1), 200));
}

}  // namespace podere::image
