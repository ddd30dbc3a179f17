// The parts of an Arrow file or stream: messages with metadata, each before a body of buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/columns/arrow_schema.h"
#include "podere/columns/arrow_unpack.h"
#include "podere/io/byte_source.h"

namespace podere::columns {

namespace arrow {
struct Message;
struct RecordBatch;
}  // namespace arrow

/// The bytes of a file, whose number is known.
struct ArrowBytes {
  std::string name;
  std::unique_ptr<io::ByteSource> source;
  std::uint64_t size = 0;

  /// Throws InputError if they are not in the file. Memory: never more than the file has.
  std::vector<char> read(std::uint64_t begin, std::uint64_t n_bytes) const;
};

/// A message, whose metadata has been verified:
///
///     0xffffffff (not before Arrow 0.15) | bytes of the metadata: 4 bytes, little-endian | metadata | body
///
/// where the metadata is a FlatBuffer, filled up to a multiple of 8 bytes.
struct ArrowMessage {
  std::vector<char> metadata;
  std::uint64_t begin = 0;
  std::uint64_t body_begin = 0;
  std::uint64_t end = 0;

  const arrow::Message& root() const;
};

/// The one that begins at a byte, whose metadata takes `metadata_bytes` where its file says that; nothing at the end of
/// a stream. Throws InputError if it is damaged or not whole.
std::optional<ArrowMessage> read_arrow_message(const ArrowBytes& bytes, std::uint64_t begin,
                                               std::optional<std::uint64_t> metadata_bytes = {});

/// Where the arrays of a record batch or dictionary batch lie.
struct ArrowBatch {
  std::uint64_t n_rows = 0;
  ArrowCodec codec = ArrowCodec::kNone;
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;  ///< rows, and how many are missing
  std::vector<ArrowPlace> buffers;
  std::vector<std::size_t> view_buffers;  ///< of each field that is a view: how many buffers of texts follow its own
};

/// Throws InputError where its places are outside of the message. Which rows they have room for shows when they are
/// read.
ArrowBatch read_arrow_batch(const ArrowBytes& bytes, const ArrowMessage& message);

/// Of a batch with `n_rows`, for the field that begins in a schema as `field` has it.
struct ArrowArray {
  std::uint64_t n_rows = 0;
  bool has_missing = false;
  ArrowCodec codec = ArrowCodec::kNone;
  std::vector<ArrowPlace> buffers;  ///< from its first on; those behind its own are of no concern
  std::size_t n_view_buffers = 0;
};

/// Throws ArrowDamage if the batch has no such array.
ArrowArray array_of(const ArrowBatch& batch, const ArrowField& field);

}  // namespace podere::columns
