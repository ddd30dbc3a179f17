// Reading the sparse text of LIBSVM and SVMlight into a Table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/load_lines.h"
#include "podere/io/missing_tokens.h"
#include "podere/io/read_facts.h"
#include "podere/io/row_selection.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::io {

struct LibsvmOptions {
  /// Unset: as many as the largest index in the file needs, and those that `applied` asks for.
  std::optional<std::uint64_t> n_features;
  bool zero_based = false;           ///< indices count from 0, not from 1
  std::vector<std::string> columns;  ///< features to keep, by name, in this order; empty: all
  /// What the rows are for: where the features of this schema that table::find_features looks for are more than the
  /// file has indices, those that the file lacks are 0.
  std::optional<table::Schema> applied;
  std::vector<std::string> missing = usual_missing_tokens();  ///< values read as NaN
  RowSelection rows;                                          ///< of the file, that become the table
  std::size_t chunk_bytes = kChunkBytes;                      ///< read at once by one thread
  std::size_t max_line_bytes = kMostLineBytes;                ///< longer lines are refused
};

/// Reads lines of `label index:value index:value ... # comment`, plain or gzip, with LF or CRLF. Indices rise along a
/// line; a feature without one is 0, not missing. Feature i is called fi, as column i of delimited text without names
/// whose column 0 is the label. Blank lines, and lines with a comment alone, are no rows. Numbers are read as read_csv
/// does. The label is called "label". Source: T. Joachims, SVMlight 6.02, "Input file format"; C.-C. Chang, C.-J. Lin,
/// README of LIBSVM.
///
/// Collective: every rank receives its rows_of() the table. Each rank reads 1/p of the file twice, to find where rows
/// begin and, without n_features, the largest index; then the bytes of its own rows; of a gzip file every rank goes
/// through all. Memory: the table, in which zeros take as much as others, and per thread a chunk, a line and 16 rows.
///
/// Throws InputError with file and line, the same one on all ranks: of all rows asked for, the first that cannot be
/// read; an index beyond kMostFeatures comes before all others, whether its row is asked for or not. Throws it too for
/// a table beyond the memory of a host.
table::Table read_libsvm(const std::string& location, const LibsvmOptions& options, const comm::Communicator& comm,
                         int n_threads, ReadFacts* facts = nullptr);

/// The same rows without holding their features: the file is read again each time they are needed.
/// Collective; throws as read_libsvm.
std::unique_ptr<table::RowSource> open_libsvm(const std::string& location, const LibsvmOptions& options,
                                              const comm::Communicator& comm, int n_threads,
                                              std::size_t window_bytes = table::kWindowBytes,
                                              ReadFacts* facts = nullptr);

}  // namespace podere::io
