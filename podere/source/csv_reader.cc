#include "podere/source/csv_reader.h"

#include "podere/io/csv.h"

namespace podere::source {

io::CsvOptions csv_options(const Reading& reading) {
  const SourceSpec& spec = reading.spec;
  return {.delimiter = spec.delimiter,
          .comment = spec.comment,
          .skip = spec.skip,
          .header = spec.header,
          .names = spec.names,
          .label = spec.label,
          .needs_label = reading.needs_label,
          .weight = spec.weight,
          .columns = spec.columns,
          .drop = spec.drop,
          .categorical = spec.categorical,
          .finds_categories = spec.finds_categories,
          .positive = spec.positive,
          .coded_as = spec.coded_as,
          .missing = spec.missing,
          .decimal = spec.decimal,
          .day_first = spec.day_first,
          .drop_unlabeled = spec.drop_unlabeled,
          .date_parts = spec.date_parts,
          .counts_texts = spec.counts_texts,
          .numbers_only = spec.numbers_only,
          .rows = spec.rows};
}

namespace {

table::Table load_csv(const Reading& reading) {
  return io::read_csv(reading.spec.location, csv_options(reading), reading.comm, reading.n_threads, reading.facts);
}

std::unique_ptr<table::RowSource> open_csv(const Reading& reading) {
  return io::open_csv(reading.spec.location, csv_options(reading), reading.comm, reading.n_threads, table::kWindowBytes,
                      reading.facts);
}

}  // namespace

Reader csv_reader() {
  return {.name = "csv",
          .options = {"label", "weight", "columns", "drop", "categorical", "finds_categories", "decimal", "day_first",
                      "date_parts", "positive", "delimiter", "comment", "skip", "header", "names", "missing",
                      "drop_unlabeled"},
          .reason = "it is delimited text, by its name and its first bytes; see --format",
          .takes_many = true,
          .load = load_csv,
          .open = open_csv};
}

}  // namespace podere::source
