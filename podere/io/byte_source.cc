#include "podere/io/byte_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "podere/io/file.h"
#include "podere/io/gzip.h"

namespace podere::io {
namespace {

constexpr std::string_view kGzipBegin = "\x1f\x8b";

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

std::span<const ByteScheme> byte_schemes() { return kSchemes; }

std::unique_ptr<ByteSource> open_bytes(const std::string& location) {
  auto bytes = scheme_of(location).open(location);
  std::array<char, kGzipBegin.size()> begin{};
  bytes->read_at(0, begin);
  if (std::string_view(begin.data(), begin.size()) == kGzipBegin) return std::make_unique<GzipSource>(std::move(bytes));
  return std::make_unique<StoredSource>(std::move(bytes));
}

SourceVersion version_of(const std::string& location) { return scheme_of(location).version(location); }

}  // namespace podere::io
