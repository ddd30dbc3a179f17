#include "podere/source/column_readers.h"

#include "podere/base/error.h"
#include "podere/columns/arrow_file.h"
#include "podere/columns/column_rows.h"
#include "podere/columns/hdf5_file.h"
#include "podere/columns/many_files.h"
#include "podere/columns/npy_file.h"
#include "podere/columns/npz_file.h"
#include "podere/columns/parquet_file.h"
#include "podere/columns/raw_file.h"
#include "podere/columns/side_by_side.h"
#include "podere/source/csv_reader.h"

namespace podere::source {
namespace {

using namespace std::string_view_literals;

using OpenSource = std::unique_ptr<columns::ColumnFile> (*)(const SourceSpec& spec);

template <std::unique_ptr<columns::ColumnFile> (*kOpen)(const std::string& location)>
std::unique_ptr<columns::ColumnFile> open_files(const SourceSpec& spec) {
  return columns::open_all(spec.location, kOpen);
}

/// With the labels that are in a file of their own.
std::unique_ptr<columns::ColumnFile> add_labels(const SourceSpec& spec, std::unique_ptr<columns::ColumnFile> file) {
  if (spec.labels.empty()) return file;
  if (spec.label) throw_input_error("{}: label and labels are both chosen; choose one of them", spec.location);
  return columns::with_labels(std::move(file), columns::open_npy(spec.labels));
}

std::unique_ptr<columns::ColumnFile> open_npy_and_labels(const SourceSpec& spec) {
  return add_labels(spec, columns::open_all(spec.location, columns::open_npy));
}

std::unique_ptr<columns::ColumnFile> open_npz_and_labels(const SourceSpec& spec) {
  const auto open = [&](const std::string& location) { return columns::open_npz(location, spec.key, spec.drop); };
  return add_labels(spec, columns::open_all(spec.location, open));
}

std::unique_ptr<columns::ColumnFile> open_raw_and_labels(const SourceSpec& spec) {
  if (!spec.raw_type || !spec.raw_columns) {
    throw_input_error("{}: no header says what is in it: choose --raw-type, such as float32, and --raw-columns",
                      spec.location);
  }
  const columns::RawLayout layout{*spec.raw_type, *spec.raw_columns, spec.big_endian, spec.skip_bytes};
  const auto open = [&](const std::string& location) { return columns::open_raw_rows(location, layout); };
  return add_labels(spec, columns::open_all(spec.location, open));
}

std::vector<std::string> labels_of(const SourceSpec& spec) {
  return spec.labels.empty() ? std::vector<std::string>() : std::vector{spec.labels};
}

std::unique_ptr<columns::ColumnFile> open_hdf5_files(const SourceSpec& spec) {
  return columns::open_all(
      spec.location, [&](const std::string& location) { return columns::open_hdf5(location, spec.key, spec.drop); });
}

io::CsvOptions column_options(const Reading& reading) {
  io::CsvOptions options = csv_options(reading);
  if (!reading.spec.labels.empty()) options.label = columns::kLabelsName;
  return options;
}

template <OpenSource kOpen>
table::Table load_columns(const Reading& reading) {
  const auto open = [&] { return kOpen(reading.spec); };
  return columns::read_columns(open, column_options(reading), reading.comm, reading.n_threads, reading.facts);
}

template <OpenSource kOpen>
std::unique_ptr<table::RowSource> open_columns(const Reading& reading) {
  const auto open = [&] { return kOpen(reading.spec); };
  return columns::open_columns(open, column_options(reading), reading.comm, reading.n_threads, table::kWindowBytes,
                               reading.facts);
}

/// A reader of a format, but for how files of it are known.
template <OpenSource kOpen>
Reader column_reader(std::string_view name) {
  return {.name = name,
          .options = {"label", "weight", "columns", "drop", "categorical", "finds_categories", "decimal", "day_first",
                      "date_parts", "positive", "missing", "drop_unlabeled"},
          .reason = "it is a file of columns, which has their names and kinds in it; see --format",
          .takes_many = true,
          .load = load_columns<kOpen>,
          .open = open_columns<kOpen>,
          .open_file = kOpen};
}

}  // namespace

Reader arrow_reader() {
  Reader reader = column_reader<open_files<columns::open_arrow>>("arrow");
  reader.first_bytes = {"ARROW1\0\0"sv, "FEA1\0"sv, "\xff\xff\xff\xff"};  // a file, one of old Feather, a stream
  reader.suffixes = {".arrow", ".feather", ".ipc", ".arrows"};
  return reader;
}

Reader hdf5_reader() {
  Reader reader = column_reader<open_hdf5_files>("hdf5");
  reader.is_format = columns::is_hdf5;
  reader.suffixes = {".h5", ".hdf5", ".hdf", ".nc"};
  reader.options.emplace_back("key");
  return reader;
}

Reader parquet_reader() {
  Reader reader = column_reader<open_files<columns::open_parquet>>("parquet");
  reader.first_bytes = {"PAR1\x15"};  // as no text begins
  reader.suffixes = {".parquet", ".pq"};
  return reader;
}

Reader npy_reader() {
  Reader reader = column_reader<open_npy_and_labels>("npy");
  reader.first_bytes = {"\x93NUMPY"};
  reader.suffixes = {".npy"};
  reader.options.emplace_back("labels");
  reader.other_files = labels_of;
  return reader;
}

Reader npz_reader() {
  Reader reader = column_reader<open_npz_and_labels>("npz");
  reader.options.emplace_back("labels");
  reader.options.emplace_back("key");
  reader.other_files = labels_of;
  reader.is_format = columns::is_npz;
  return reader;
}

Reader raw_reader() {
  Reader reader = column_reader<open_raw_and_labels>("raw");
  reader.options.insert(reader.options.end(), {"labels", "raw_type", "raw_columns", "big_endian", "skip_bytes"});
  reader.reason = "it is a file of numbers alone";
  reader.other_files = labels_of;
  return reader;
}

}  // namespace podere::source
