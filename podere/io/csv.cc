#include "podere/io/csv.h"

#include <memory>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/io/csv_row.h"
#include "podere/io/field_rows.h"
#include "podere/io/row_tile.h"
#include "podere/io/text_file.h"

namespace podere::io {
namespace {

/// Those of the rows of the file, with its header, that become the table.
table::RowRange choose_csv_rows(const std::string& name, const CsvOptions& options, bool has_header,
                                std::uint64_t n_all) {
  const std::uint64_t n_header = has_header ? 1 : 0;
  const std::uint64_t n_rows = n_all - n_header;
  if (n_rows == 0) {
    throw_input_error("{}: has a header but no rows{}", name,
                      options.header ? "" : "; if its first line is a row, choose --no-header");
  }
  const table::RowRange rows = choose_rows(name, options.rows, n_rows);
  return {rows.begin + n_header, rows.end + n_header};
}

/// Delimited text, and where its rows begin.
class CsvRows final : public FieldRows {
 public:
  /// Collective. Throws InputError on all ranks.
  CsvRows(const std::string& location, const CsvOptions& options, const comm::Communicator& comm, int n_threads)
      : FieldRows(options) {
    comm.agree([&] {
      text_.emplace(location, options.max_line_bytes);
      layout = find_layout(*text_->source, text_->name, options);
      text_->text_begin = layout.text_begin;
    });
    text_->find_rows(layout.rules, options.chunk_bytes, comm, n_threads);
    chosen = choose_csv_rows(text_->name, options, layout.has_header, text_->index.n_rows);
    rows = table::rows_of(chosen.size(), comm.rank(), comm.size());
  }

  const std::string& name() const override { return text_->name; }

  void read(table::Table& table, Categories& categories, int n_threads) const override {
    const auto make_reader = [&] {
      return std::make_unique<RowReader<RowParser>>(RowParser(layout, missing, categories, texts), table);
    };
    text_->read({chosen.begin + table.rows().begin, chosen.begin + table.rows().end}, make_reader, n_threads);
  }

  void check_unchanged() const override { text_->check_unchanged(); }

 private:
  std::optional<TextFile> text_;
};

}  // namespace

table::Table read_csv(const std::string& location, const CsvOptions& options, const comm::Communicator& comm,
                      int n_threads, ReadFacts* facts) {
  CsvRows rows(location, options, comm, n_threads);
  return read_fields(rows, options, comm, n_threads, facts);
}

std::unique_ptr<table::RowSource> open_csv(const std::string& location, const CsvOptions& options,
                                           const comm::Communicator& comm, int n_threads, std::size_t window_bytes,
                                           ReadFacts* facts) {
  const auto rows = std::make_shared<CsvRows>(location, options, comm, n_threads);
  return open_fields(rows, options, comm, n_threads, window_bytes, facts);
}

}  // namespace podere::io
