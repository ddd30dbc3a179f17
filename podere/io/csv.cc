#include "podere/io/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "podere/base/error.h"
#include "podere/io/byte_source.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_index.h"
#include "podere/io/csv_layout.h"
#include "podere/io/csv_load.h"
#include "podere/io/file_version.h"

namespace podere::io {
namespace {

/// The lines of the file that become the table: its rows, shifted by the header.
table::RowRange choose_lines(const std::string& name, const CsvOptions& options, bool has_header,
                             std::uint64_t n_lines) {
  if (n_lines == 0) throw_input_error("{}: is empty", name);
  const std::uint64_t n_header = has_header ? 1 : 0;
  const std::uint64_t n_rows = n_lines - n_header;
  if (n_rows == 0) throw_input_error("{}: has a header but no rows", name);
  const std::uint64_t last_row = options.last_row.value_or(n_rows);
  if (options.first_row >= last_row || last_row > n_rows) {
    throw_input_error("{}: rows {} to {} are asked for, end excluded; there are rows 0 to {}", name, options.first_row,
                      last_row, n_rows);
  }
  return {options.first_row + n_header, last_row + n_header};
}

std::uint64_t line_number(const ByteSource& source, std::uint64_t offset) {
  const auto cursor = source.cursor_at(0);
  std::vector<char> buffer(1 << 16);
  std::uint64_t number = 1;
  while (offset > 0) {
    const std::size_t n =
        cursor->read({buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(offset, buffer.size()))});
    if (n == 0) break;
    number += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + n, '\n'));
    offset -= n;
  }
  return number;
}

/// A fault in the text of a file.
class CsvFault : public InputError {
 public:
  using InputError::InputError;
};

/// Runs `read` on all ranks. Of all CsvFaults the first in the file is thrown, on all ranks: ranks hold rows in the
/// order of the file, so it is that of the lowest rank.
void agree_on_fault(const comm::Communicator& comm, const std::function<void()>& read) {
  std::optional<CsvFault> fault;
  comm.agree([&] {
    try {
      read();
    } catch (const CsvFault& found) {
      fault = found;
    }
  });
  const std::vector<std::int32_t> has_fault = comm.all_gather(std::int32_t{fault ? 1 : 0});
  const auto first = std::ranges::find(has_fault, 1);
  comm.agree([&] {
    if (first - has_fault.begin() == comm.rank()) throw InputError(*fault);
  });
}

/// A file that was found fit to be read: where its rows begin, and which of them this rank holds.
struct OpenCsv {
  /// Collective. Throws InputError on all ranks.
  OpenCsv(const std::filesystem::path& path, const CsvOptions& options, const comm::Communicator& comm, int n_threads)
      : name(path.string()), version(path), missing(options.missing), max_line_bytes(options.max_line_bytes) {
    comm.agree([&] {
      source = open_bytes(path);
      layout = find_layout(*source, name, options);
    });
    index = index_lines(*source, name, options.chunk_bytes, comm, n_threads);
    lines = choose_lines(name, options, layout.has_header, index.n_lines);
    rows = table::rows_of(lines.size(), comm.rank(), comm.size());
  }

  /// Sets the values of `table`, which has some of the rows. Throws CsvFault for the first that cannot be read.
  /// Local.
  void read(table::Table& table, Categories& categories, int n_threads) const {
    const LoadPlan plan{.source = *source,
                        .name = name,
                        .layout = layout,
                        .missing = missing,
                        .categories = categories,
                        .index = index,
                        .lines = {lines.begin + table.rows().begin, lines.begin + table.rows().end},
                        .max_line_bytes = max_line_bytes};
    try {
      load_rows(plan, table, n_threads);
    } catch (const SourceFault& fault) {
      throw CsvFault(fmt::format("{}:{}: {}", name, line_number(*source, fault.offset), fault.message));
    }
  }

  /// Throws InputError if the file is not what it was: for those who read it more than once.
  void check_unchanged() const {
    if (FileVersion(name) != version) throw_input_error("{}: changed while it was read", name);
  }

  std::string name;
  FileVersion version;
  MissingTokens missing;
  std::size_t max_line_bytes;
  std::unique_ptr<ByteSource> source;
  CsvLayout layout;
  LineIndex index;
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
  categories.agree_on_codes(csv.name, comm, n_threads, *table);
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
    categories.agree_on_codes(csv->name, comm, n_threads, none);
    csv->layout.schema = none.schema();
    csv->layout.finds_categories = false;
  }
  const auto read = [csv, n_threads](table::Table& window) {
    Categories categories(csv->layout.schema, false);
    csv->read(window, categories, n_threads);
    csv->check_unchanged();
  };
  std::unique_ptr<table::RowSource> rows;
  agree_on_fault(comm, [&] {
    rows = std::make_unique<table::ReadRows>(csv->layout.schema, csv->lines.size(), csv->rows, read, window_bytes);
  });
  return rows;
}

}  // namespace podere::io
