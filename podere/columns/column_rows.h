// Files of columns to a Table, in parallel over executors and threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "podere/columns/column_file.h"
#include "podere/comm/communicator.h"
#include "podere/io/csv.h"
#include "podere/io/read_facts.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::columns {

/// Opens a file. Local. Throws InputError.
using Open = std::function<std::unique_ptr<ColumnFile>()>;

/// Reads a file of columns as io::read_csv reads text: by name or position, with the same choices of label, kinds,
/// categories and classes, so that the same values make the same table. What the file says of kinds comes first: a
/// column of dates or numbers is one, whatever its values. Columns that no table can have, such as lists, are refused
/// by name unless they are left out. `options`: but for the delimiter, comments, the header and the sizes of chunks and
/// lines.
///
/// Collective: every rank receives its rows_of() the table, and reads the groups of rows in which these are. Memory:
/// the table, and per thread what one column of a group needs.
///
/// Throws InputError, the same one on all ranks, with file, column and row.
table::Table read_columns(const Open& open, const io::CsvOptions& options, const comm::Communicator& comm,
                          int n_threads, io::ReadFacts* facts = nullptr);

/// The same rows without holding their features: the file is read again each time they are needed. Collective; throws
/// as read_columns.
std::unique_ptr<table::RowSource> open_columns(const Open& open, const io::CsvOptions& options,
                                               const comm::Communicator& comm, int n_threads,
                                               std::size_t window_bytes = table::kWindowBytes,
                                               io::ReadFacts* facts = nullptr);

}  // namespace podere::columns
