// Rows of a delimited file into the columns of a table.
#pragma once

#include <cstdint>
#include <string>

#include "podere/io/byte_source.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_index.h"
#include "podere/io/csv_layout.h"
#include "podere/table/table.h"

namespace podere::io {

/// A fault in the text of a source, by the byte where it is.
struct SourceFault {
  std::uint64_t offset;
  std::string message;
};

struct LoadPlan {
  const ByteSource& source;
  const std::string& name;
  const CsvLayout& layout;
  const MissingTokens& missing;
  Categories& categories;
  const LineIndex& index;
  table::RowRange lines;  ///< of the source, which become the rows of the table that are held here
  std::size_t max_line_bytes;
};

/// Parses the lines of `plan` into `table`, in parallel over chunks. Throws SourceFault for the first that cannot be
/// read, InputError if the source is no longer what was indexed.
void load_rows(const LoadPlan& plan, table::Table& table, int n_threads);

}  // namespace podere::io
