#include "podere/io/byte_source.h"

#include <array>
#include <utility>

#include "podere/io/file.h"
#include "podere/io/gzip.h"

namespace podere::io {

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  File file(path);
  std::array<char, 2> magic{};
  file.read_at(0, magic);
  if (magic == std::array{'\x1f', '\x8b'}) return std::make_unique<GzipSource>(std::move(file));
  return std::make_unique<FileSource>(std::move(file));
}

}  // namespace podere::io
