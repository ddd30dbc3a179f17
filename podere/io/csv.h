// Reading delimited text into a Table, in parallel over executors and threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::io {

/// How to read delimited text. A column is given by name ("m_bb") or by position from 0 ("3").
struct CsvOptions {
  std::optional<char> delimiter;            ///< , ; tab or space; unset: found from the first lines
  std::optional<bool> header;               ///< unset: there is one if a field of the first line is not a number
  std::optional<std::string> label;         ///< column of the label; unset: the table has none
  std::optional<std::string> weight;        ///< column of the weight; unset: the table has none
  std::vector<std::string> columns;         ///< features to keep, in this order; empty: all but label and weight
  std::vector<std::string> missing = {"", "NA", "NaN", "nan", "NULL", "null", "?", "-nan"};  ///< read as NaN
  std::uint64_t first_row = 0;              ///< rows [first_row, last_row) of the file become the table
  std::optional<std::uint64_t> last_row;    ///< unset: to the end
};

/// Reads a file of numbers, plain or gzip, by RFC 4180: quotes, CRLF or LF, a byte order mark. Columns without a
/// header are named f0, f1, ... by position in the file. Numbers are rounded to the nearest float32. Collective: every
/// rank receives its rows_of() the table, which is the same for any number of ranks and threads.
/// Throws InputError on all ranks, with file, line and column, for what cannot be read.
table::Table read_csv(const std::filesystem::path& path, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads);

}  // namespace podere::io
