// The rows of a text, a line each, read in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "podere/io/byte_source.h"
#include "podere/io/line_index.h"
#include "podere/table/row.h"

namespace podere::io {

inline constexpr std::size_t kChunkBytes = std::size_t{1} << 19;     ///< that one thread reads at once
inline constexpr std::size_t kMostLineBytes = std::size_t{1} << 24;  ///< of a line: they bound the memory for reading

/// A fault in the text of a source, by the byte where it is.
struct SourceFault {
  std::uint64_t offset;
  std::string message;
};

/// What one thread makes of rows.
class LineReader {
 public:
  virtual ~LineReader() = default;

  /// The rows that follow begin with number `first` of those that are asked for.
  virtual void start_at(std::size_t first) = 0;
  /// Reads the row that begins at `p` in a text that ends at `end` with a line end, with kPadding bytes readable
  /// behind. Returns the begin of the next line. Throws TextFault.
  virtual const char* read(const char* p, const char* end) = 0;
  /// The rows since start_at are all.
  virtual void finish() {}

  static constexpr std::size_t kPadding = 16;
};

struct LinePlan {
  const ByteSource& source;
  const std::string& name;
  const LineIndex& index;
  std::uint64_t text_begin;  ///< in the source, behind a byte order mark
  table::RowRange rows;      ///< of the source, that are read
  std::size_t max_line_bytes;
};

/// Reads the rows of `plan`, in parallel over chunks, each thread with a reader of its own. Throws SourceFault for the
/// first that cannot be read, InputError if the source is no longer what was indexed.
void load_lines(const LinePlan& plan, const std::function<std::unique_ptr<LineReader>()>& make_reader, int n_threads);

}  // namespace podere::io
