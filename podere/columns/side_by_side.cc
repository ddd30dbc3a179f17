#include "podere/columns/side_by_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/first_fault.h"

namespace podere::columns {
namespace {

class SideBySide final : public ColumnFile {
 public:
  SideBySide(std::string name, std::vector<FilePart> parts, FileNotes notes)
      : name_(std::move(name)), parts_(std::move(parts)), notes_(std::move(notes)) {
    for (FilePart& part : parts_) {
      first_columns_.push_back(columns_.size());
      for (std::size_t j = 0; j < part.names.size(); ++j) {
        columns_.push_back(part.file->columns()[j]);
        columns_.back().name = std::move(part.names[j]);
        if (!part.left_out.empty()) columns_.back().left_out = part.left_out;
      }
      // Those of the widest part; others are read across theirs.
      if (part.file->group_begins().size() > groups_.size()) groups_ = part.file->group_begins();
    }
  }

  const std::string& name() const override { return name_; }
  const std::vector<Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return groups_; }
  FileNotes notes() const override { return notes_; }
  bool columns_lie_apart() const override {
    return std::ranges::all_of(parts_, [](const FilePart& part) { return part.file->columns_lie_apart(); });
  }

  bool gives_float64() const override {
    return std::ranges::all_of(parts_, [](const FilePart& part) { return part.file->gives_float64(); });
  }

  void read(table::RowRange rows, std::span<const ColumnRead> wanted) const override {
    FirstFault first;
    for (std::size_t i = 0; i < parts_.size(); ++i) first.watch([&] { read_part(i, rows, wanted); });
    first.rethrow();
  }

  void check_unchanged() const override {
    for (const FilePart& part : parts_) part.file->check_unchanged();
  }

 private:
  /// Reads what is wanted of a part, by its groups.
  void read_part(std::size_t part, table::RowRange rows, std::span<const ColumnRead> wanted) const {
    const ColumnFile& file = *parts_[part].file;
    const std::size_t begin = first_columns_[part], end = begin + file.columns().size();
    for (std::uint64_t row = rows.begin; row < rows.end;) {
      const table::RowRange here = {row, std::min(rows.end, *std::ranges::upper_bound(file.group_begins(), row))};
      std::vector<ColumnRead> of_part;
      for (const ColumnRead& column : wanted) {
        if (column.column >= begin && column.column < end) of_part.push_back(piece_of(column, begin, rows, here));
      }
      if (of_part.empty()) return;
      try {
        file.read(here, of_part);
      } catch (ColumnFault& fault) {
        fault.column += begin;
        throw;
      }
      row = here.end;
    }
  }

  /// What is wanted of some of the `rows`, of the part whose first column is `begin`.
  static ColumnRead piece_of(const ColumnRead& column, std::size_t begin, table::RowRange rows, table::RowRange here) {
    const auto first = static_cast<std::size_t>(here.begin - rows.begin);
    ColumnRead piece{.column = column.column - begin};
    if (!column.doubles.empty()) {
      piece.doubles = column.doubles.subspan(first, static_cast<std::size_t>(here.size()));
      return piece;
    }
    if (!column.numbers.empty()) {
      piece.numbers = column.numbers.subspan(first, static_cast<std::size_t>(here.size()));
      return piece;
    }
    piece.take_text = [&column, first](std::size_t row, std::string_view text) { column.take_text(first + row, text); };
    return piece;
  }

  std::string name_;
  std::vector<FilePart> parts_;
  FileNotes notes_;
  std::vector<std::size_t> first_columns_;  // of each part
  std::vector<Column> columns_;
  std::vector<std::uint64_t> groups_;
};

std::vector<std::string> names_of_columns(const ColumnFile& file) {
  std::vector<std::string> names;
  for (const Column& column : file.columns()) names.push_back(column.name);
  return names;
}

}  // namespace

std::unique_ptr<ColumnFile> side_by_side(std::string name, std::vector<FilePart> parts, FileNotes notes) {
  return std::make_unique<SideBySide>(std::move(name), std::move(parts), std::move(notes));
}

std::unique_ptr<ColumnFile> with_labels(std::unique_ptr<ColumnFile> file, std::unique_ptr<ColumnFile> labels) {
  std::vector<std::string> names = names_of_columns(*file);
  if (labels->columns().size() != 1) {
    throw_input_error("{}: labels are one column, here are {}", labels->name(), labels->columns().size());
  }
  if (labels->n_rows() != file->n_rows()) {
    throw_input_error("{}: there are {} rows, and {} labels in {}", file->name(), file->n_rows(), labels->n_rows(),
                      labels->name());
  }
  if (std::ranges::find(names, kLabelsName) != names.end()) {
    throw_input_error("{}: has a column '{}', and labels are in {}: choose one of them", file->name(), kLabelsName,
                      labels->name());
  }
  std::string name = file->name();
  FileNotes notes = file->notes();
  std::vector<FilePart> parts;
  parts.push_back({std::move(file), std::move(names)});
  parts.push_back({std::move(labels), {kLabelsName}});
  return side_by_side(std::move(name), std::move(parts), std::move(notes));
}

}  // namespace podere::columns
