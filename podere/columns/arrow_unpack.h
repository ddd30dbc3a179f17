// A buffer of an Arrow file, plain or packed, as a run of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "podere/io/byte_source.h"

namespace podere::columns {

/// How the buffers of a record batch are packed.
enum class ArrowCodec { kNone, kLz4, kZstd };

/// Where a buffer lies in its file.
struct ArrowPlace {
  std::uint64_t begin = 0;
  std::uint64_t n_bytes = 0;
};

/// What is damaged in a buffer, or not what belongs there.
struct ArrowDamage {
  std::string message;
};

/// Fills `out` from a packed stream, as far as its bytes go.
class ArrowUnpacker {
 public:
  virtual ~ArrowUnpacker() = default;
  /// Takes bytes from the begin of `packed`; returns how many it wrote. Throws ArrowDamage.
  virtual std::size_t unpack(std::span<const char>& packed, std::span<char> out) = 0;
};

/// Reads a buffer from its begin on. Memory: a constant, however long it is and whatever it claims to be. A packed one:
///
///     bytes when unpacked, or -1 if it is not packed: 8 bytes, little-endian | a frame of LZ4 or Zstandard
///
/// For one thread. Throws ArrowDamage, and what `source` throws.
class ArrowBuffer {
 public:
  /// Borrows `source`.
  ArrowBuffer(const io::ByteSource& source, ArrowPlace place, ArrowCodec codec);

  /// Unpacked, as the file has it; it may have fewer.
  std::uint64_t size() const { return size_; }
  /// Throws ArrowDamage if not all of `bytes` are there.
  void read(std::span<char> bytes);
  void skip(std::uint64_t n_bytes);
  /// What is left. Grows with what is there. Memory: size(), which the caller has checked.
  std::vector<char> read_rest();

 private:
  std::size_t read_stored(std::span<char> bytes);
  void fill();

  const io::ByteSource& source_;
  ArrowPlace left_;  // of the stored bytes
  std::uint64_t size_ = 0;
  std::uint64_t n_taken_ = 0;
  std::unique_ptr<io::ByteCursor> cursor_;   // at left_.begin; null: not yet
  std::unique_ptr<ArrowUnpacker> unpacker_;  // null: plain
  std::vector<char> packed_;
  std::span<const char> packed_left_;
  std::vector<char> chunk_;
  std::span<const char> chunk_left_;
};

}  // namespace podere::columns
