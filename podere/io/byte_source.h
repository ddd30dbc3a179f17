// Where bytes come from: sources such as files, plain or packed, that can be read more than once and from any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace podere::io {

/// Bytes of a known number, as they are stored.
class RawBytes {
 public:
  virtual ~RawBytes() = default;

  /// What messages call it.
  virtual const std::string& name() const = 0;
  /// Bytes when it was opened; what is appended later is not seen.
  virtual std::uint64_t size() const = 0;
  /// Fills `bytes` from `offset` on; returns how many, fewer only at the end. Thread-safe. Throws InputError if there
  /// are fewer bytes than there were, Error if they cannot be read.
  virtual std::size_t read_at(std::uint64_t offset, std::span<char> bytes) const = 0;
};

/// Reads on from a place in a source. For one thread.
class ByteCursor {
 public:
  virtual ~ByteCursor() = default;
  /// Fills `bytes` with what comes next; returns how many, which is fewer only at the end of the source. Throws
  /// InputError if the source is damaged or has shrunk, Error if it cannot be read.
  virtual std::size_t read(std::span<char> bytes) = 0;
};

/// Reads over the next `n_bytes`, as far as there are.
void skip_bytes(ByteCursor& cursor, std::uint64_t n_bytes);

class ByteSource;

/// Bytes of a source; of one that does not know them, which is read to its end for it, at most a few more than `most`.
/// Before any cursor: cursors may start there later.
std::uint64_t count_bytes(ByteSource& source, std::uint64_t most);

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Bytes in the source; unset where only reading to the end would show (of what is packed).
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

/// Identifies a state of a source; empty if it cannot be found out. Only ever compared.
using SourceVersion = std::string;

/// Bytes that can be read at any place, such as a file, by the scheme of their location: "s3" of "s3://bucket/name".
struct ByteScheme {
  std::string_view name;
  /// Opens what is at a location. Throws InputError if it is not there or cannot be read twice.
  std::unique_ptr<RawBytes> (*open)(const std::string& location);
  /// The state it is in now. Throws nothing: what is not there has a version too.
  SourceVersion (*version)(const std::string& location);
};

/// All schemes. The first has locations without a scheme: paths.
std::span<const ByteScheme> byte_schemes();

/// Opens what is at `location` as it is stored. Throws as open_bytes.
std::unique_ptr<RawBytes> open_raw(const std::string& location);

/// A source of bytes that are not packed.
std::unique_ptr<ByteSource> as_stored(std::unique_ptr<RawBytes> bytes);

/// Opens what is at `location`, a path or "scheme://...". What is packed is known by its first bytes, not by
/// its name. Throws
/// InputError if it is not there, cannot be opened, or cannot be read twice (directories, pipes, devices).
std::unique_ptr<ByteSource> open_bytes(const std::string& location);

/// The version of what is at `location` now.
SourceVersion version_of(const std::string& location);

}  // namespace podere::io
