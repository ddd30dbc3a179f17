// Rows of fields that have names, in any format, on their way to a table: what all such formats share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/io/column_forms.h"
#include "podere/io/csv.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_layout.h"
#include "podere/io/missing_tokens.h"
#include "podere/io/read_facts.h"
#include "podere/io/rounded_wholes.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::io {

/// A source that was found fit to be read, and which of its rows this rank holds.
class FieldRows {
 public:
  explicit FieldRows(const CsvOptions& options) : missing(options.missing) {}
  virtual ~FieldRows() = default;

  /// What messages call it.
  virtual const std::string& name() const = 0;
  /// Sets the values of `table`, which has some of the rows. Throws TextFileFault for the first that cannot be read.
  /// Local.
  virtual void read(table::Table& table, Categories& categories, int n_threads) const = 0;
  /// Throws InputError if the source is not what it was.
  virtual void check_unchanged() const = 0;

  std::size_t n_files = 1;
  std::vector<std::string> notes;           ///< as of ReadFacts
  std::vector<std::string> folder_columns;  ///< whose values are in the names of folders
  MissingTokens missing;
  TextCounts* texts = nullptr;       ///< where texts among numbers are counted; null: they are faults
  RoundedWholes* rounded = nullptr;  ///< where whole numbers that float32 does not hold are noted
  CsvLayout layout;
  table::RowRange chosen;  ///< of the source, that become the table
  table::RowRange rows;    ///< of the table, that this rank holds
};

/// The table of `rows`, as read_csv has it. Collective.
table::Table read_fields(FieldRows& rows, const CsvOptions& options, const comm::Communicator& comm, int n_threads,
                         ReadFacts* facts);

/// The same rows without holding their features, as open_csv has them. Collective.
std::unique_ptr<table::RowSource> open_fields(const std::shared_ptr<FieldRows>& rows, const CsvOptions& options,
                                              const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                              ReadFacts* facts);

}  // namespace podere::io
