#include "podere/io/csv.h"

#include <memory>
#include <optional>

#include "podere/base/error.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_layout.h"
#include "podere/io/csv_row.h"
#include "podere/io/row_tile.h"
#include "podere/io/text_file.h"

namespace podere::io {
namespace {

/// The lines of the file that become the table: its rows, shifted by the header.
table::RowRange choose_lines(const std::string& name, const CsvOptions& options, bool has_header,
                             std::uint64_t n_lines) {
  if (n_lines == 0) throw_input_error("{}: is empty", name);
  const std::uint64_t n_header = has_header ? 1 : 0;
  const std::uint64_t n_rows = n_lines - n_header;
  if (n_rows == 0) throw_input_error("{}: has a header but no rows", name);
  const table::RowRange rows = choose_rows(name, options.first_row, options.last_row, n_rows);
  return {rows.begin + n_header, rows.end + n_header};
}

/// A file that was found fit to be read: where its rows begin, and which of them this rank holds.
struct OpenCsv {
  /// Collective. Throws InputError on all ranks.
  OpenCsv(const std::filesystem::path& path, const CsvOptions& options, const comm::Communicator& comm, int n_threads)
      : missing(options.missing) {
    comm.agree([&] {
      text.emplace(path, options.max_line_bytes);
      layout = find_layout(*text->source, text->name, options);
      text->text_begin = layout.text_begin;
    });
    text->index = index_lines(*text->source, text->name, options.chunk_bytes, Quotes::kHideLineEnds, comm, n_threads);
    lines = choose_lines(text->name, options, layout.has_header, text->index.n_lines);
    rows = table::rows_of(lines.size(), comm.rank(), comm.size());
  }

  const std::string& name() const { return text->name; }

  /// Sets the values of `table`, which has some of the rows. Throws TextFileFault for the first that cannot be read.
  /// Local.
  void read(table::Table& table, Categories& categories, int n_threads) const {
    const auto make_reader = [&] {
      return std::make_unique<RowReader<RowParser>>(RowParser(layout, missing, categories), table);
    };
    text->read({lines.begin + table.rows().begin, lines.begin + table.rows().end}, make_reader, n_threads);
  }

  MissingTokens missing;
  std::optional<TextFile> text;
  CsvLayout layout;
  table::RowRange lines;  // of the file, that become the table
  table::RowRange rows;   // of the table, that this rank holds
};

}  // namespace

table::Table read_csv(const std::filesystem::path& path, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, UnknownTexts* unknown) {
  const OpenCsv csv(path, options, comm, n_threads);
  Categories categories(csv.layout.schema, csv.layout.finds_categories);
  std::optional<table::Table> table;
  agree_on_fault(comm, [&] {
    table.emplace(csv.layout.schema, csv.lines.size(), csv.rows);
    csv.read(*table, categories, n_threads);
  });
  categories.agree_on_codes(csv.name(), comm, n_threads, *table);
  const UnknownTexts found = categories.sum_unknown(comm);
  if (unknown != nullptr) *unknown = found;
  return std::move(*table);
}

std::unique_ptr<table::RowSource> open_csv(const std::filesystem::path& path, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes) {
  const auto csv = std::make_shared<OpenCsv>(path, options, comm, n_threads);
  if (csv->layout.finds_categories) {
    Categories categories(csv->layout.schema, true);
    const auto find = [&](table::Table& window) { csv->read(window, categories, n_threads); };
    agree_on_fault(comm,
                   [&] { table::ReadRows(csv->layout.schema, csv->lines.size(), csv->rows, find, window_bytes); });
    table::Table none(csv->layout.schema, 0, {});
    categories.agree_on_codes(csv->name(), comm, n_threads, none);
    csv->layout.schema = none.schema();
    csv->layout.finds_categories = false;
  }
  const auto read = [csv, n_threads](table::Table& window) {
    Categories categories(csv->layout.schema, false);
    csv->read(window, categories, n_threads);
    csv->text->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  agree_on_fault(comm, [&] {
    rows = std::make_unique<table::ReadRows>(csv->layout.schema, csv->lines.size(), csv->rows, read, window_bytes);
  });
  return rows;
}

}  // namespace podere::io
