#include "podere/columns/many_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/number.h"
#include "podere/base/printable.h"
#include "podere/io/decimal.h"
#include "podere/io/file_list.h"
#include "podere/io/missing_tokens.h"

namespace podere::columns {
namespace {

class ManyFiles final : public ColumnFile {
 public:
  ManyFiles(const std::string& location, const std::vector<io::ListedFile>& files, const OpenFile& open)
      : name_(location) {
    for (const io::ListedFile& file : files) add(file, open);
    for (std::size_t i = 0; i < files.front().values.size(); ++i) add_folders_column(files.front().values[i].first, i);
  }

  const std::string& name() const override { return name_; }
  const std::vector<Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return group_begins_; }
  std::size_t n_files() const override { return parts_.size(); }
  std::vector<std::string> folder_columns() const override {
    std::vector<std::string> names;
    for (std::size_t i = n_stored_; i < columns_.size(); ++i) names.push_back(columns_[i].name);
    return names;
  }
  FileNotes notes() const override { return first_notes_; }
  bool columns_lie_apart() const override { return parts_.front().file->columns_lie_apart(); }
  bool gives_float64() const override {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.file->gives_float64(); });
  }
  void check_unchanged() const override {
    for (const Part& part : parts_) part.file->check_unchanged();
  }

  void read(table::RowRange rows, std::span<const ColumnRead> wanted) const override {
    // Files without rows begin where the next does: the last that begins there has the row.
    const Part& part = *std::prev(std::ranges::upper_bound(parts_, rows.begin, {}, &Part::first_row));
    std::vector<ColumnRead> of_file;
    for (const ColumnRead& column : wanted) {
      if (column.column >= n_stored_) {
        give_value(part.values[column.column - n_stored_], static_cast<std::size_t>(rows.size()), column);
      } else {
        of_file.push_back(column);
        of_file.back().column = part.columns[column.column];
      }
    }
    if (of_file.empty()) return;
    try {
      part.file->read({rows.begin - part.first_row, rows.end - part.first_row}, of_file);
    } catch (ColumnFault& fault) {
      const auto place = std::ranges::find(part.columns, fault.column);
      throw ColumnFault{part.first_row + fault.row, static_cast<std::size_t>(place - part.columns.begin()),
                        fmt::format("{} (row {} of {})", fault.message, fault.row, part.file->name())};
    }
  }

 private:
  struct Part {
    std::unique_ptr<ColumnFile> file;
    std::uint64_t first_row;
    std::vector<std::size_t> columns;  // of the file, by column of the first
    std::vector<std::string> values;   // of its folders
  };

  void add(const io::ListedFile& listed, const OpenFile& open) {
    Part part{.file = open(listed.path), .first_row = group_begins_.back()};
    for (const auto& [name, value] : listed.values) part.values.push_back(value);
    if (parts_.empty()) {
      columns_ = part.file->columns();
      n_stored_ = columns_.size();
      first_notes_ = part.file->notes();
    } else {
      const FileNotes notes = part.file->notes();
      check_common(part.file->name(), notes);
      leave_out_other_units(notes);
    }
    part.columns = match(*part.file);
    const std::vector<std::uint64_t>& begins = part.file->group_begins();
    for (std::size_t i = 1; i < begins.size(); ++i) group_begins_.push_back(part.first_row + begins[i]);
    parts_.push_back(std::move(part));
  }

  /// Throws InputError where a file says something else than the first of what both say.
  void check_common(const std::string& name, const FileNotes& notes) const {
    for (const auto& [what, value] : notes.common) {
      const auto found = std::ranges::find(first_notes_.common, what, &std::pair<std::string, std::string>::first);
      if (found == first_notes_.common.end() || found->second == value) continue;
      throw_input_error("{}: {}: {}, and in {}: {}; read files with others by themselves", name, what, value,
                        parts_.front().file->name(), found->second);
    }
  }

  /// Coordinates that each file counts from a day of its own are no columns, also where they are named.
  void leave_out_other_units(const FileNotes& notes) {
    for (const auto& [name, units] : first_notes_.coordinate_units) {
      const auto here = std::ranges::find(notes.coordinate_units, name, &std::pair<std::string, std::string>::first);
      if (here == notes.coordinate_units.end() || here->second == units) continue;
      const auto column = std::ranges::find(columns_, name, &Column::name);
      if (column != columns_.end()) *column = {name, Kind::kOther, "of other units in each file", kCoordinate};
    }
  }

  /// Where the columns of the first file are in another. Throws InputError where they are not the same.
  std::vector<std::size_t> match(const ColumnFile& file) {
    const std::vector<Column>& others = file.columns();
    std::vector<std::size_t> places;
    std::vector<std::string> lacking, more;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      const bool is_in_place = i < others.size() && others[i].name == column.name;
      const std::size_t place =
          is_in_place
              ? i
              : static_cast<std::size_t>(std::ranges::find(others, column.name, &Column::name) - others.begin());
      if (place == others.size()) {
        lacking.push_back(printable(column.name));
      } else if (column.type == kNoValues) {
        column = others[place];
      } else if (others[place].kind != column.kind && column.left_out == kCoordinate) {
        if (column.kind != Kind::kOther) column = {column.name, Kind::kOther, "not alike in all files", kCoordinate};
      } else if (others[place].kind != column.kind && others[place].type != kNoValues) {
        throw_input_error("{}: column {} is of type {}, and of type {} in {}", file.name(), printable(column.name),
                          others[place].type, column.type, parts_.front().file->name());
      }
      places.push_back(place);
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::string& other = others[i].name;
      const bool is_in_place = i < columns_.size() && columns_[i].name == other;
      if (is_in_place || std::ranges::find(columns_, other, &Column::name) != columns_.end()) continue;
      more.push_back(printable(other));
    }
    if (lacking.empty() && more.empty()) return places;
    throw_input_error("{}: has not the columns of {}:{}{}{}; read files with other columns by themselves", file.name(),
                      parts_.front().file->name(),
                      lacking.empty() ? "" : fmt::format(" it lacks {}", fmt::join(lacking, ", ")),
                      !lacking.empty() && !more.empty() ? ", and" : "",
                      more.empty() ? "" : fmt::format(" it has {} besides", fmt::join(more, ", ")));
  }

  /// Numbers if all values are, or are missing.
  void add_folders_column(const std::string& name, std::size_t place) {
    if (std::ranges::find(columns_, name, &Column::name) != columns_.end()) {
      throw_input_error("{}: {} is a column of the files, and a folder has it in its name too", name_, printable(name));
    }
    const bool are_numbers = std::ranges::all_of(parts_, [&](const Part& part) {
      float value;
      return part.values[place].empty() || io::parse_float(part.values[place], value);
    });
    columns_.push_back({name, are_numbers ? Kind::kNumber : Kind::kText, "of a folder's name"});
  }

  static void give_value(const std::string& text, std::size_t n_rows, const ColumnRead& wanted) {
    if (!wanted.take_text) {
      float value = io::kMissing;
      if (!text.empty()) io::parse_float(text, value);
      std::ranges::fill(wanted.numbers, value);
      const auto real = text.empty() ? std::nullopt : parse_real(text);
      std::ranges::fill(wanted.doubles, real.value_or(std::numeric_limits<double>::quiet_NaN()));
      return;
    }
    for (std::size_t row = 0; row < n_rows && !text.empty(); ++row) wanted.take_text(row, text);
  }

  std::string name_;
  std::vector<Part> parts_;
  FileNotes first_notes_;  // of the first file
  std::vector<Column> columns_;
  std::size_t n_stored_ = 0;  // columns of the files
  std::vector<std::uint64_t> group_begins_ = {0};
};

}  // namespace

std::unique_ptr<ColumnFile> open_all(const std::string& location, const OpenFile& open) {
  const std::vector<io::ListedFile> files = io::list_files(location);
  if (files.size() == 1 && files[0].values.empty()) return open(files[0].path);
  return std::make_unique<ManyFiles>(location, files, open);
}

}  // namespace podere::columns
