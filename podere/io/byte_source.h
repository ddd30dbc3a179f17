// Where bytes come from: files, plain or gzip, that can be read more than once and from any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace podere::io {

/// Reads on from a place in a source. For one thread.
class ByteCursor {
 public:
  virtual ~ByteCursor() = default;
  /// Fills `bytes` with what comes next; returns how many, which is fewer only at the end of the source. Throws
  /// InputError if the source is damaged or has shrunk, Error if it cannot be read.
  virtual std::size_t read(std::span<char> bytes) = 0;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes in the source; unset where only reading to the end would tell (gzip).
  virtual std::optional<std::uint64_t> size() const = 0;

  /// A cursor on byte `offset`, which borrows the source. Thread-safe.
  virtual std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const = 0;

  /// A cursor on byte 0 that notes, before a read(), how cursors may start there later. For one thread, while there
  /// is no other cursor.
  virtual std::unique_ptr<ByteCursor> indexing_cursor() { return cursor_at(0); }

  /// Once the indexing cursor has come to the end: bytes between places where a cursor starts at little cost; 0 if it
  /// does anywhere.
  virtual std::uint64_t stride() const { return 0; }
};

/// Opens a file; gzip is known by its first bytes, not by its name. Throws InputError if it is not there, cannot be
/// opened, or cannot be read twice (directories, pipes, devices).
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace podere::io
