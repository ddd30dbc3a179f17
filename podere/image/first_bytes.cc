#include "podere/image/first_bytes.h"

#include <algorithm>
#include <string_view>

namespace podere::image {
namespace {

using namespace std::string_view_literals;

/// What begins with certain bytes, perhaps not at once, and what users can do with it.
struct OtherKind {
  std::size_t offset;
  std::string_view begin;
  std::string_view name;
};

constexpr OtherKind kOthers[] = {
    {0, "GIF8"sv, "a GIF"},
    {8, "WEBP"sv, "a WebP picture"},
    {0, "BM"sv, "a BMP picture"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftyphei"sv, "a HEIC picture"},
    {4, "ftypmif1"sv, "a HEIC picture"},
    {0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 picture"},
    {0, "\xff\x4f\xff\x51"sv, "a JPEG 2000 picture"},
    {0, "\0\0\0\x0cJXL "sv, "a JPEG XL picture"},
    {0, "\xff\x0a"sv, "a JPEG XL picture"},
    {0, "v/1\x01"sv, "an OpenEXR picture"},
    {0, "8BPS"sv, "a Photoshop picture"},
    {0, "\0\0\1\0"sv, "an icon"},
    {0, "SIMPLE  ="sv, "a FITS file"},
    {128, "DICM"sv, "a DICOM file"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "%!PS"sv, "a PostScript document"},
    {0, "P1"sv, "a Netpbm picture"},
    {0, "P2"sv, "a Netpbm picture"},
    {0, "P3"sv, "a Netpbm picture"},
    {0, "P4"sv, "a Netpbm picture"},
    {0, "P5"sv, "a Netpbm picture"},
    {0, "P6"sv, "a Netpbm picture"},
};

constexpr OtherKind kNoPictures[] = {
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {0, "PK\3\4"sv, "a ZIP archive"},
    {0, "\x1f\x8b"sv, "packed by gzip"},
    {257, "ustar"sv, "a tar archive"},
};

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool has(std::string_view text, const OtherKind& kind) {
  return text.size() > kind.offset && text.substr(kind.offset).starts_with(kind.begin);
}

/// Whether the file has the bytes of text.
bool is_text(std::string_view text) {
  return std::ranges::none_of(text.substr(0, 512), [](unsigned char c) {
    return c == 0x7f || (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f');
  });
}

/// Whether a PNG has a chunk "acTL" before its pixels. A chunk: 4 bytes of size, its name, the content, 4 of check sum.
bool is_animated(Bytes bytes) {
  for (std::size_t at = 8; at + 8 <= bytes.size();) {
    const std::string_view chunk = text_of(bytes.subspan(at + 4, 4));
    if (chunk == "acTL") return true;
    if (chunk == "IDAT") return false;
    const std::size_t size = bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
    if (size > bytes.size()) return false;
    at += size + 12;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& name, std::string_view what) {
  throw_fault(FaultKind::kOtherKind,
              "{}: is {}; pictures are read as TIFF, JPEG or PNG: convert it, such as with ImageMagick: convert FILE "
              "FILE.png",
              name, what);
}

std::optional<Format> format_by_begin(std::string_view text) {
  for (const std::string_view begin : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (text.starts_with(begin)) return Format::kTiff;
  }
  if (text.starts_with("\xff\xd8\xff"sv)) return Format::kJpeg;
  if (text.starts_with("\x89PNG\r\n\x1a\n"sv)) return Format::kPng;
  return std::nullopt;
}

}  // namespace

bool begins_as_picture(Bytes bytes) { return format_by_begin(text_of(bytes)).has_value(); }

Format find_format(Bytes bytes, const std::string& name) {
  const std::string_view text = text_of(bytes);
  if (text.empty()) throw_fault(FaultKind::kEmpty, "{}: is empty, and no picture; copy it again", name);
  if (const auto format = format_by_begin(text)) {
    if (*format == Format::kPng && is_animated(bytes)) refuse(name, "an animated PNG");
    return *format;
  }
  for (const OtherKind& kind : kOthers) {
    if (has(text, kind)) refuse(name, kind.name);
  }
  for (const OtherKind& kind : kNoPictures) {
    if (!has(text, kind)) continue;
    throw_fault(FaultKind::kOtherKind, "{}: is {}, and no picture; pictures are read as TIFF, JPEG or PNG", name,
                kind.name);
  }
  throw_fault(FaultKind::kOtherKind,
              "{}: is {}, and no picture; pictures are read as TIFF, JPEG or PNG, known by their first bytes", name,
              is_text(text) ? "a text" : "of no kind that is known");
}

}  // namespace podere::image
