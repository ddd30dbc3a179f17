#include "podere/io/csv.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "podere/base/error.h"
#include "podere/io/byte_source.h"
#include "podere/io/csv_categories.h"
#include "podere/io/csv_index.h"
#include "podere/io/csv_layout.h"
#include "podere/io/csv_load.h"

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

}  // namespace

table::Table read_csv(const std::filesystem::path& path, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, UnknownTexts* unknown) {
  const std::string name = path.string();
  std::unique_ptr<ByteSource> source;
  CsvLayout layout;
  comm.agree([&] {
    source = open_bytes(path);
    layout = find_layout(*source, name, options);
  });
  const LineIndex index = index_lines(*source, name, options.chunk_bytes, comm, n_threads);
  const table::RowRange lines = choose_lines(name, options, layout.has_header, index.n_lines);
  const table::RowRange rows = table::rows_of(lines.size(), comm.rank(), comm.size());
  const MissingTokens missing(options.missing);

  Categories categories(layout.schema, layout.finds_categories);

  std::optional<table::Table> table;
  std::optional<SourceFault> fault;
  comm.agree([&] {
    table.emplace(layout.schema, lines.size(), rows);
    const LoadPlan plan{.source = *source,
                        .name = name,
                        .layout = layout,
                        .missing = missing,
                        .categories = categories,
                        .index = index,
                        .lines = {lines.begin + rows.begin, lines.begin + rows.end},
                        .max_line_bytes = options.max_line_bytes};
    try {
      load_rows(plan, *table, n_threads);
    } catch (const SourceFault& found) {
      fault = found;
    }
  });

  // Ranks hold rows in the order of the file: the first fault is that of the lowest rank.
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t> offsets = comm.all_gather(fault ? fault->offset : kNone);
  const auto first = std::find_if(offsets.begin(), offsets.end(), [](std::uint64_t offset) { return offset != kNone; });
  if (first != offsets.end()) {
    comm.agree([&] {
      if (first - offsets.begin() != comm.rank()) return;
      throw_input_error("{}:{}: {}", name, line_number(*source, fault->offset), fault->message);
    });
  }
  categories.agree_on_codes(name, comm, n_threads, *table);
  const UnknownTexts found = categories.sum_unknown(comm);
  if (unknown != nullptr) *unknown = found;
  return std::move(*table);
}

}  // namespace podere::io
