#include "podere/source/picture_columns.h"

#include <algorithm>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/column_rows.h"
#include "podere/columns/value_text.h"
#include "podere/comm/ranks_here.h"
#include "podere/source/csv_reader.h"
#include "podere/source/picture_numbers.h"

namespace podere::source {
namespace {

class PictureColumns : public columns::ColumnFile {
 public:
  explicit PictureColumns(PictureRows rows) : rows_(std::move(rows)) {
    for (const std::string& name : rows_.columns) {
      columns_.push_back({.name = name, .kind = columns::Kind::kNumber, .type = "float32"});
    }
    if (rows_.label) columns_.push_back({.name = kPictureLabel, .kind = columns::Kind::kText, .type = "class"});
    // A group for each: a network takes its time, and threads that are near each other unpack an archive once.
    for (std::uint64_t begin = 0; begin <= rows_.n; ++begin) begins_.push_back(begin);
  }

  const std::string& name() const override { return rows_.name; }
  const std::vector<columns::Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return begins_; }
  bool columns_lie_apart() const override { return false; }
  bool rows_lie_behind_another() const override { return true; }
  void check_unchanged() const override {}
  std::string pictures() const override { return rows_.pictures; }

  void read(table::RowRange rows, std::span<const columns::ColumnRead> wanted) const override {
    const auto is_number = [&](const columns::ColumnRead& read) { return read.column < rows_.columns.size(); };
    const bool needs_numbers = std::ranges::any_of(wanted, is_number);
    std::vector<float> numbers(needs_numbers ? rows_.columns.size() : 0);
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      if (needs_numbers) rows_.read(row, numbers);
      const auto place = static_cast<std::size_t>(row - rows.begin);
      for (const columns::ColumnRead& read : wanted) {
        if (is_number(read)) {
          set(read, place, numbers[read.column]);
        } else if (const std::string label = rows_.label(row); !label.empty()) {
          read.take_text(place, label);
        }
      }
    }
  }

 private:
  static void set(const columns::ColumnRead& read, std::size_t place, float value) {
    if (!read.numbers.empty()) {
      read.numbers[place] = value;
    } else {
      read.take_text(place, columns::text_of(value));
    }
  }

  PictureRows rows_;
  std::vector<columns::Column> columns_;
  std::vector<std::uint64_t> begins_;
};

std::vector<std::string> names_of_numbers(const columns::ColumnFile& file, bool has_labels) {
  std::vector<std::string> names;
  for (const columns::Column& column : file.columns()) names.push_back(column.name);
  if (has_labels) names.pop_back();
  return names;
}

/// Pictures that a model is applied to need no labels, and may lie in folders that are no classes.
io::CsvOptions picture_options(const Reading& reading, const columns::ColumnFile& file) {
  io::CsvOptions options = csv_options(reading);
  const bool has_labels = file.columns().back().name == kPictureLabel;
  if (options.coded_as) {
    check_learned(file.name(), *options.coded_as, names_of_numbers(file, has_labels), file.pictures());
  }
  if (reading.needs_label && !has_labels) {
    throw_input_error(
        "{}: has no labels: put the pictures of each class into a folder of its own, or give their labels "
        "in a file, as in &labels=FILE.csv",
        file.name());
  }
  const bool keeps_label = has_labels && (reading.needs_label || !reading.spec.coded_as);
  if (keeps_label) options.label = kPictureLabel;
  if (keeps_label) options.categorical = {kPictureLabel};  // names of classes, digits or not
  if (has_labels && !keeps_label && options.columns.empty()) options.drop.emplace_back(kPictureLabel);
  return options;
}

struct Opened {
  std::unique_ptr<columns::ColumnFile> file;
  io::CsvOptions options;
};

/// Before the options are known, which depend on whether there are labels. Collective.
Opened open_once(const Reading& reading, OpenPictures open) {
  const auto n_here = static_cast<int>(comm::ranks_here(reading.comm).size());
  Opened opened;
  reading.comm.agree([&] {
    opened.file = open(reading, n_here);
    opened.options = picture_options(reading, *opened.file);
  });
  return opened;
}

}  // namespace

std::unique_ptr<columns::ColumnFile> picture_columns(PictureRows rows) {
  return std::make_unique<PictureColumns>(std::move(rows));
}

table::Table load_pictures(const Reading& reading, OpenPictures open) {
  Opened opened = open_once(reading, open);
  return columns::read_columns([&] { return std::move(opened.file); }, opened.options, reading.comm, reading.n_threads,
                               reading.facts);
}

std::unique_ptr<table::RowSource> open_pictures(const Reading& reading, OpenPictures open) {
  Opened opened = open_once(reading, open);
  return columns::open_columns([&] { return std::move(opened.file); }, opened.options, reading.comm, reading.n_threads,
                               table::kWindowBytes, reading.facts);
}

}  // namespace podere::source
