#include "podere/source/column_readers.h"

#include "podere/columns/column_rows.h"
#include "podere/columns/many_files.h"
#include "podere/columns/parquet_file.h"
#include "podere/source/csv_reader.h"

namespace podere::source {
namespace {

template <columns::OpenFile kOpen>
table::Table load_columns(const Reading& reading) {
  const auto open = [&] { return columns::open_all(reading.spec.location, kOpen); };
  return columns::read_columns(open, csv_options(reading), reading.comm, reading.n_threads, reading.facts);
}

template <columns::OpenFile kOpen>
std::unique_ptr<table::RowSource> open_columns(const Reading& reading) {
  const auto open = [&] { return columns::open_all(reading.spec.location, kOpen); };
  return columns::open_columns(open, csv_options(reading), reading.comm, reading.n_threads, table::kWindowBytes,
                               reading.facts);
}

/// A reader of a format, but for how files of it are known.
template <columns::OpenFile kOpen>
Reader column_reader(std::string_view name) {
  return {.name = name,
          .options = {"label", "weight", "columns", "drop", "categorical", "finds_categories", "decimal", "day_first",
                      "date_parts", "positive", "missing"},
          .reason = "it is a file of columns, which has their names and kinds in it; see --format",
          .takes_many = true,
          .load = load_columns<kOpen>,
          .open = open_columns<kOpen>};
}

}  // namespace

Reader parquet_reader() {
  Reader reader = column_reader<columns::open_parquet>("parquet");
  reader.first_bytes = "PAR1\x15";  // as no text begins
  reader.suffixes = {".parquet", ".pq"};
  return reader;
}

}  // namespace podere::source
