// Where the lines of a text begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/byte_source.h"

namespace podere::io {

/// The lines of one chunk of a text, whether it begins within quotes or not.
struct ChunkCount {
  std::uint64_t line_ends = 0;            ///< outside quotes, if the chunk begins outside
  std::uint64_t line_ends_if_quoted = 0;  ///< outside quotes, if the chunk begins within
  std::uint64_t flips = 0;                ///< 1 if it has an odd number of quotes
  std::uint64_t blank_tail_lines = 0;     ///< line ends behind the last byte that is none
  std::uint64_t is_blank = 0;             ///< 1 if it holds nothing but line ends
};

/// Whether a line end within quotes is one: in delimited text it is part of a field, in other text a quote is a
/// character like any other.
enum class Quotes { kHideLineEnds, kMeanNothing };

ChunkCount count_lines(std::span<const char> chunk, Quotes quotes = Quotes::kHideLineEnds);

/// The lines of a text by chunk. A line belongs to the chunk with the line end before it, the first to chunk 0:
///
///     chunk 0        chunk 1        chunk 2
///     1,2\n 3,4\n 5, | 6\n 7,8 | ,9\n           lines 0, 1, 2 belong to chunk 0, line 3 to chunk 1
///
/// so that line i + 1 begins behind the first line end of its chunk, if it is the first that the chunk has.
struct LineIndex {
  struct Chunk {
    std::uint64_t first_line;  ///< that belongs to it or to a later chunk
    bool in_quotes;            ///< whether it begins within quotes
  };
  Quotes quotes = Quotes::kHideLineEnds;
  std::size_t chunk_bytes = 0;
  std::vector<Chunk> chunks;  ///< and one behind the last
  std::uint64_t n_lines = 0;  ///< without blank lines at the end; 0 if there is nothing else
};

/// Joins the counts of all chunks of a text.
LineIndex make_index(std::size_t chunk_bytes, std::span<const ChunkCount> counts,
                     Quotes quotes = Quotes::kHideLineEnds);

/// Counts the lines of `source`, in parallel over ranks and threads if it can be read from any place. Collective.
LineIndex index_lines(ByteSource& source, const std::string& name, std::size_t chunk_bytes, Quotes quotes,
                      const comm::Communicator& comm, int n_threads);

}  // namespace podere::io
