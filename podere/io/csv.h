// Reading delimited text into a Table, in parallel over executors and threads.
#pragma once

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

/// How to read delimited text. A column is given by name ("m_bb") or by position from 0 ("3").
struct CsvOptions {
  std::optional<char> delimiter;  ///< , ; tab space or |; unset: found from the first lines
  std::optional<char> comment;    ///< begins a comment up to the end of the line; unset: nothing does
  std::uint64_t skip = 0;         ///< lines above the table, blank or not, that are no part of it
  std::optional<bool> header;     ///< the first line names the columns; unset: found out, as decide_header does
  /// Of all columns, in place of those in the first line if it has any; empty: none are given. Where `header` is unset
  /// and the first line leaves doubt, it is a row.
  std::vector<std::string> names;
  std::optional<std::string> label;  ///< column of the label; unset: the table has none, or needs_label
  /// Where `label` is unset: it is the column that LabelChoice says.
  bool needs_label = false;
  std::optional<std::string> weight;     ///< column of the weight; unset: the table has none
  std::vector<std::string> columns;      ///< features to keep, in this order; empty: all but label, weight and `drop`
  std::vector<std::string> drop;         ///< columns that are left out; not with `columns`
  std::vector<std::string> categorical;  ///< columns whose fields are texts: categories, or classes of the label
  bool finds_categories = false;         ///< features of texts become categories if few differ; else left out
  std::optional<std::string> positive;   ///< of two classes that are texts the one that is positive; unset: the last
  /// Unset: the texts of each categorical feature, sorted, become the codes 0, 1, 2, ... Else the features that
  /// table::find_features finds for the categorical ones of this schema have its codes, and no others are categorical;
  /// of a file with names that has some of its features by name, no other columns are kept unless `columns` says so.
  /// Its classes, where it has any, are those of the label.
  std::optional<table::Schema> coded_as;
  std::vector<std::string> missing = usual_missing_tokens();  ///< read as NaN
  std::optional<char> decimal;                                ///< point or comma of numbers; unset: found out by column
  std::optional<bool> day_first;  ///< of dates such as 01/02/2026; unset: found out by column
  bool drop_unlabeled = false;    ///< rows whose label is missing are left out
  bool date_parts = false;        ///< dates have their parts as features too: when.year, when.month, ...
  bool counts_texts =
      false;  ///< texts among numbers are missing values and counted; names may stand twice. Else refused
  bool numbers_only = false;              ///< who reads takes no categories and no dates, so messages do not offer them
  RowSelection rows;                      ///< of the file, that become the table
  std::size_t chunk_bytes = kChunkBytes;  ///< read at once by one thread
  std::size_t max_line_bytes = kMostLineBytes;  ///< longer lines are refused: they bound the memory for reading
};

/// Reads a file of numbers, and of texts in categorical columns, plain or packed, by RFC 4180: quotes, LF, CRLF or CR,
/// a byte order mark. Columns without a name are called f0, f1, ... by position in the file. An index without a name,
/// as R and pandas write it, is left out. Blanks round a field, blank lines, a delimiter at the end of lines and fields
/// of columns that are not kept do not count. The fields of the label are texts, its classes, if one of the first rows
/// or `categorical` says so; sorted, but for `positive`, they become the codes 0, 1, ... Numbers are decimal, or
/// all of a column of one of number_forms() (dates, decimal commas, booleans, ...), and rounded to the nearest float32;
/// inf is a number; one beyond float32 is an error. A missing token that is a number means every spelling of it. A text
/// that is not known is read as missing and counted in `facts`, where wanted. Codes that `coded_as` has no texts for
/// are whole numbers from 0.
///
/// Collective: every rank receives its rows_of() the table, which is the same for any number of ranks and threads. Each
/// rank reads 1/p of the file to find where rows begin, exchanges a few words per chunk, and reads the bytes of its own
/// rows once more; of a gzip file every rank goes through all. Different texts are gathered from all ranks. Memory: the
/// table, and per thread a chunk and a line.
///
/// Throws InputError with file, line and column, the same one on all ranks: of all rows asked for, the first that does
/// not split into fields, or whose label is none of the classes of `coded_as`; else the first text among numbers, with
/// all columns that hold any. Rows that are not asked for are only counted.
table::Table read_csv(const std::string& location, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts = nullptr);

/// The same rows without holding their features: the file is read again each time they are needed, and twice
/// here (once more where texts of categories are to be found). Collective; throws as read_csv. Memory: labels and
/// weights, and a window of `window_bytes`.
std::unique_ptr<table::RowSource> open_csv(const std::string& location, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads,
                                           std::size_t window_bytes = table::kWindowBytes, ReadFacts* facts = nullptr);

}  // namespace podere::io
