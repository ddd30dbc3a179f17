#include "podere/io/byte_source.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "podere/base/file_traffic.h"
#include "podere/io/file.h"
#include "podere/io/gzip.h"
#include "podere/io/packed.h"

namespace podere::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kGzipBegin = "\x1f\x8b";

/// Whether PackedSource unpacks what begins so. Sources: the formats' own specifications.
bool is_packed(std::string_view begin) {
  const bool is_bzip2 = begin.starts_with("BZh") && begin.size() > 4 &&
                        (begin.substr(4).starts_with("1AY&SY") || begin.substr(4).starts_with("\x17\x72\x45"));
  constexpr std::array kBegins = {
      "\xfd\x37zXZ\0"sv, "\x28\xb5\x2f\xfd"sv, "\x04\x22\x4d\x18"sv, "LZIP\x01"sv,
      "PK\x03\x04"sv,    "PK\x05\x06"sv,       "\x5d\0\0"sv};  // the last: .lzma, as all programs write it
  return is_bzip2 || std::ranges::any_of(kBegins, [&](std::string_view packed) { return begin.starts_with(packed); });
}

/// The bytes as they are stored.
class StoredCursor : public ByteCursor {
 public:
  StoredCursor(const RawBytes& bytes, std::uint64_t offset) : bytes_(bytes), offset_(offset) {}

  std::size_t read(std::span<char> bytes) override {
    const std::size_t n = bytes_.read_at(offset_, bytes);
    offset_ += n;
    return n;
  }

 private:
  const RawBytes& bytes_;
  std::uint64_t offset_;
};

class StoredSource : public ByteSource {
 public:
  explicit StoredSource(std::unique_ptr<RawBytes> bytes) : bytes_(std::move(bytes)) {}
  std::optional<std::uint64_t> size() const override { return bytes_->size(); }
  std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const override {
    return std::make_unique<StoredCursor>(*bytes_, offset);
  }

 private:
  std::unique_ptr<RawBytes> bytes_;
};

std::unique_ptr<RawBytes> open_file(const std::string& path) { return std::make_unique<File>(path); }

// A line each.
constexpr std::array kSchemes = {
    ByteScheme{"file", open_file, file_version},
};

const ByteScheme& scheme_of(std::string_view location) {
  const auto is_its = [&](const ByteScheme& scheme) {
    return location.starts_with(scheme.name) && location.substr(scheme.name.size()).starts_with("://");
  };
  const auto found = std::find_if(kSchemes.begin() + 1, kSchemes.end(), is_its);
  return found == kSchemes.end() ? kSchemes.front() : *found;
}

}  // namespace

void skip_bytes(ByteCursor& cursor, std::uint64_t n_bytes) {
  std::vector<char> skipped(static_cast<std::size_t>(std::min<std::uint64_t>(n_bytes, 1 << 18)));
  while (n_bytes > 0) {
    const std::size_t n =
        cursor.read({skipped.data(), static_cast<std::size_t>(std::min<std::uint64_t>(n_bytes, skipped.size()))});
    if (n == 0) return;
    n_bytes -= n;
  }
}

std::uint64_t count_bytes(ByteSource& source, std::uint64_t most) {
  if (source.size()) return *source.size();
  const DecodeTime decoding;
  const auto cursor = source.indexing_cursor();
  std::vector<char> buffer(1 << 18);
  std::uint64_t size = 0;
  for (std::size_t n = buffer.size(); n == buffer.size() && size <= most; size += n) n = cursor->read(buffer);
  return size;
}

std::span<const ByteScheme> byte_schemes() { return kSchemes; }

std::unique_ptr<RawBytes> open_raw(const std::string& location) { return scheme_of(location).open(location); }

std::unique_ptr<ByteSource> as_stored(std::unique_ptr<RawBytes> bytes) {
  return std::make_unique<StoredSource>(std::move(bytes));
}

std::unique_ptr<ByteSource> open_bytes(const std::string& location) {
  auto bytes = open_raw(location);
  std::array<char, 12> first{};
  const std::string_view begin(first.data(), bytes->read_at(0, first));
  if (begin.starts_with(kGzipBegin)) return std::make_unique<GzipSource>(std::move(bytes));
  if (is_packed(begin)) return std::make_unique<PackedSource>(std::move(bytes));
  return as_stored(std::move(bytes));
}

SourceVersion version_of(const std::string& location) { return scheme_of(location).version(location); }

}  // namespace podere::io
