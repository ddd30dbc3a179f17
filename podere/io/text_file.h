// A file of text with a row in each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"
#include "podere/io/byte_source.h"
#include "podere/io/line_index.h"
#include "podere/io/load_lines.h"
#include "podere/io/row_selection.h"
#include "podere/table/row.h"

namespace podere::io {

/// A fault in the text of a file.
class TextFileFault : public InputError {
 public:
  using InputError::InputError;
};

/// Runs `read` on all ranks. Of all TextFileFaults that of the lowest rank is returned, on all ranks: ranks hold rows
/// in the order of the file, so it is the first in the file. Collective.
std::optional<std::string> find_fault(const comm::Communicator& comm, const std::function<void()>& read);

/// The same, but throws the fault as an InputError, on all ranks. Collective.
void agree_on_fault(const comm::Communicator& comm, const std::function<void()>& read);

/// The chosen of `n_rows`. Throws InputError, with `name`, if there are none or fewer.
table::RowRange choose_rows(const std::string& name, const RowSelection& chosen, std::uint64_t n_rows);

struct TextFile {
  /// Opens a file, and has not looked for lines yet. Throws InputError, also for known kinds of files that are no text.
  TextFile(const std::string& location, std::size_t longest_line_bytes);

  /// Finds where rows begin, for read(). Collective.
  void find_rows(const LineRules& rules, std::size_t chunk_bytes, const comm::Communicator& comm, int n_threads) {
    index = index_lines(*source, name, text_begin, chunk_bytes, rules, comm, n_threads);
  }

  /// Reads rows [rows.begin, rows.end) of the file. Throws TextFileFault for the first that cannot be read. Local.
  void read(table::RowRange rows, const std::function<std::unique_ptr<LineReader>()>& make_reader, int n_threads) const;

  /// Throws InputError if the file is not what it was: for those who read it more than once.
  void check_unchanged() const;

  std::string name;
  SourceVersion version;
  std::size_t max_line_bytes;  ///< longer lines are refused
  std::unique_ptr<ByteSource> source;
  std::uint64_t text_begin = 0;  ///< behind a byte order mark
  LineIndex index;
};

}  // namespace podere::io
