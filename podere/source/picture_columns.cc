#include "podere/source/picture_columns.h"

#include <algorithm>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/column_rows.h"
#include "podere/source/csv_reader.h"
#include "podere/table/features.h"

namespace podere::source {
namespace {

class PictureColumns : public columns::ColumnFile {
 public:
  PictureColumns(PictureRows rows, const PictureShape& shape) : rows_(std::move(rows)), shape_(shape) {
    for (std::size_t i = 0; i < shape.n_values(); ++i) {
      columns_.push_back({.name = table::pixel_name(i), .kind = columns::Kind::kNumber, .type = "pixel"});
    }
    if (rows_.label) columns_.push_back({.name = kPictureLabel, .kind = columns::Kind::kText, .type = "class"});
    for (std::uint64_t begin = 0; begin < rows_.n; begin += kGroupRows) begins_.push_back(begin);
    begins_.push_back(rows_.n);
  }

  const std::string& name() const override { return rows_.name; }
  const std::vector<columns::Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return begins_; }
  bool columns_lie_apart() const override { return false; }
  void check_unchanged() const override {}

  void read(table::RowRange rows, std::span<const columns::ColumnRead> wanted) const override {
    const auto is_pixel = [&](const columns::ColumnRead& read) { return read.column < shape_.n_values(); };
    const bool needs_pixels = std::ranges::any_of(wanted, is_pixel);
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      const image::Picture picture = needs_pixels ? to_shape(rows_.picture(row), shape_) : image::Picture();
      const auto place = static_cast<std::size_t>(row - rows.begin);
      for (const columns::ColumnRead& read : wanted) {
        if (is_pixel(read)) {
          set(read, place, picture.pixels[read.column]);
        } else if (const std::string label = rows_.label(row); !label.empty()) {
          read.take_text(place, label);
        }
      }
    }
  }

 private:
  static constexpr std::uint64_t kGroupRows = 16;

  static void set(const columns::ColumnRead& read, std::size_t place, std::uint8_t value) {
    if (!read.numbers.empty()) {
      read.numbers[place] = value;
    } else {
      read.take_text(place, std::to_string(value));
    }
  }

  PictureRows rows_;
  PictureShape shape_;
  std::vector<columns::Column> columns_;
  std::vector<std::uint64_t> begins_;
};

/// Throws InputError where a model learned whole pictures of another size: their first pixels have the same names.
void check_size(const std::string& name, const table::Schema& model, std::size_t n_values) {
  const std::size_t n_learned = model.features.size();
  for (std::size_t i = 0; i < n_learned; ++i) {
    if (model.features[i] != table::pixel_name(i)) return;
  }
  if (n_learned == n_values) return;
  throw_input_error("{}: pictures of {} values, and the model learned {}: give the size and channels of its training",
                    name, n_values, n_learned);
}

/// Pictures that a model is applied to need no labels, and may lie in folders that are no classes.
io::CsvOptions picture_options(const Reading& reading, const columns::ColumnFile& file) {
  io::CsvOptions options = csv_options(reading);
  const bool has_labels = file.columns().back().name == kPictureLabel;
  if (options.coded_as) check_size(file.name(), *options.coded_as, file.columns().size() - (has_labels ? 1 : 0));
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

}  // namespace

std::unique_ptr<columns::ColumnFile> picture_columns(PictureRows rows, const PictureShape& shape) {
  return std::make_unique<PictureColumns>(std::move(rows), shape);
}

table::Table load_pictures(const Reading& reading, OpenPictures open) {
  // Opened once, before the options are known, which depend on whether there are labels.
  std::unique_ptr<columns::ColumnFile> file;
  io::CsvOptions options;
  reading.comm.agree([&] {
    file = open(reading);
    options = picture_options(reading, *file);
  });
  return columns::read_columns([&] { return std::move(file); }, options, reading.comm, reading.n_threads,
                               reading.facts);
}

std::unique_ptr<table::RowSource> open_pictures(const Reading& reading, OpenPictures open) {
  std::unique_ptr<columns::ColumnFile> file;
  io::CsvOptions options;
  reading.comm.agree([&] {
    file = open(reading);
    options = picture_options(reading, *file);
  });
  return columns::open_columns([&] { return std::move(file); }, options, reading.comm, reading.n_threads,
                               table::kWindowBytes, reading.facts);
}

}  // namespace podere::source
