// Files packed by programs other than gzip.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "podere/io/byte_source.h"

namespace podere::io {

class Unpacker;

/// What was packed by bzip2, xz, lzma, zstd, lz4 or lzip, or is the only file in a ZIP archive. Unpacking starts at the
/// begin, or continues where the last cursor stopped if that is before the place wanted: so one thread reads it, and
/// reading from front to back unpacks it once. Throws InputError for archives of several files, tar archives,
/// encrypted or damaged data, and for what grows beyond kMostGrowth times its size.
class PackedSource : public ByteSource {
 public:
  /// A gigabyte is unpacked in any case.
  static constexpr std::uint64_t kMostGrowth = 2000;

  explicit PackedSource(std::unique_ptr<RawBytes> packed);
  ~PackedSource() override;

  std::optional<std::uint64_t> size() const override { return {}; }
  std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const override;
  std::uint64_t stride() const override { return std::numeric_limits<std::uint64_t>::max() / 2; }

 private:
  class Cursor;

  std::unique_ptr<RawBytes> packed_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Unpacker> stopped_;  // guarded by mutex_
};

}  // namespace podere::io
