// Where the rows of a text begin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/byte_source.h"

namespace podere::io {

/// Which lines of a text are rows: all but blank ones and those that hold a comment alone.
struct LineRules {
  bool has_quotes = true;         ///< a line end or comment within quotes is part of a field
  bool tab_is_blank = true;       ///< a line of tabs is blank, as one of spaces is; not where tabs part fields
  std::optional<char> comment{};  ///< begins a comment, which reaches up to the end of the line
};

/// Where a place in a text is.
enum class LinePlace : std::uint8_t {
  kBlank,    ///< at the begin of a line, or with nothing but blanks before it
  kRow,      ///< in a row, outside quotes
  kQuoted,   ///< within quotes
  kComment,  ///< in a comment
};
inline constexpr std::size_t kLinePlaces = 4;

/// The rows of one chunk of a text, for each place where it may begin [kLinePlaces].
struct ChunkCount {
  std::array<std::uint64_t, kLinePlaces> n_rows{};  ///< that begin in it: have their first character there
  std::array<LinePlace, kLinePlaces> end{};         ///< where it ends
  bool operator==(const ChunkCount&) const = default;
};

ChunkCount count_rows(std::span<const char> chunk, const LineRules& rules);

/// Where the first row begins in [p, end), which begins at `place`; `end` where none does.
const char* find_row(const char* p, const char* end, LinePlace place, const LineRules& rules);

/// Behind the end of the line that has a row at `p`, which is at `place`, not kBlank; nullptr if that is not in
/// [p, end).
const char* find_row_end(const char* p, const char* end, LinePlace place, const LineRules& rules);

/// The rows of a text by chunk. A row belongs to the chunk that has its first character:
///
///     chunk 0        chunk 1        chunk 2
///     1,2\n 3,4\n 5, | 6\n\n 7,8\n | # no row\n 9\n       rows 0, 1, 2; row 3; row 4
struct LineIndex {
  struct Chunk {
    std::uint64_t first_row;  ///< that belongs to it or to a later chunk
    LinePlace place;          ///< where it begins
  };
  LineRules rules;
  std::size_t chunk_bytes = 0;
  std::vector<Chunk> chunks;  ///< and one behind the last
  std::uint64_t n_rows = 0;
};

/// Joins the counts of all chunks of a text.
LineIndex make_index(std::size_t chunk_bytes, std::span<const ChunkCount> counts, const LineRules& rules);

/// Counts the rows of `source` behind its first `text_begin` bytes, in parallel over ranks and threads if it can be
/// read from any place. Collective.
LineIndex index_lines(ByteSource& source, const std::string& name, std::uint64_t text_begin, std::size_t chunk_bytes,
                      const LineRules& rules, const comm::Communicator& comm, int n_threads);

}  // namespace podere::io
