#include "podere/columns/named_arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/columns/side_by_side.h"

namespace podere::columns {
namespace {

constexpr std::array<std::string_view, 9> kMainArrays = {"X",       "x",       "data",   "features", "arr_0",
                                                         "X_train", "x_train", "X_test", "x_test"};
constexpr std::array<std::string_view, 3> kNameArrays = {"columns", "feature_names", "names"};

/// Columns that no table can have.
class OtherColumns final : public ColumnFile {
 public:
  OtherColumns(std::string name, std::vector<Column> columns, std::uint64_t n_rows)
      : name_(std::move(name)), columns_(std::move(columns)), groups_({0}) {
    if (n_rows > 0) groups_.push_back(n_rows);
  }
  const std::string& name() const override { return name_; }
  const std::vector<Column>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& group_begins() const override { return groups_; }
  bool columns_lie_apart() const override { return true; }
  bool gives_float64() const override { return true; }
  void read(table::RowRange, std::span<const ColumnRead>) const override {}
  void check_unchanged() const override {}

 private:
  std::string name_;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> groups_;
};

}  // namespace

void NamedArrays::add_other(std::string name, std::string why, std::string left_out) {
  others_.push_back({std::move(name), Kind::kOther, std::move(why), std::move(left_out)});
}

std::ptrdiff_t NamedArrays::count_wide() const {
  return std::ranges::count_if(arrays_, [](const Named& array) { return is_wide(array); });
}

std::unique_ptr<ColumnFile> NamedArrays::as_file() && {
  const auto is_coordinate = [](const Named& array) { return array.meaning.is_coordinate; };
  if (std::ranges::all_of(arrays_, is_coordinate)) {
    for (Named& array : arrays_) array.meaning.is_coordinate = false;
  }
  if (arrays_.empty()) {
    throw_input_error("{}: has no array for a table{}", location_,
                      others_.empty() ? "" : fmt::format(": {}: {}", printable(others_[0].name), others_[0].type));
  }
  move_names();
  move_others();
  FileNotes notes = this->notes();
  const auto n_wide = count_wide();
  const std::uint64_t n_rows = arrays_[0].array->n_rows();
  std::vector<FilePart> parts;
  for (Named& array : arrays_) {
    std::vector<std::string> names = names_of(array, n_wide == 1);
    const char* const left_out = array.meaning.is_coordinate ? kCoordinate : "";
    parts.push_back({std::move(array.array), std::move(names), left_out});
  }
  if (!others_.empty()) {
    std::vector<std::string> names;
    for (const Column& column : others_) names.push_back(column.name);
    parts.push_back({std::make_unique<OtherColumns>(location_, std::move(others_), n_rows), std::move(names)});
  }
  return side_by_side(location_, std::move(parts), std::move(notes));
}

// Takes the array of the names of columns, if there is one, from the others.
void NamedArrays::move_names() {
  const auto wide = std::ranges::find_if(
      arrays_, [](const Named& array) { return is_wide(array) && array.array->n_dimensions() == 2; });
  if (wide == arrays_.end() || count_wide() != 1) return;
  const auto names = std::ranges::find_if(arrays_, [&](const Named& array) {
    const ColumnFile& file = *array.array;
    return std::ranges::find(kNameArrays, std::string_view(array.name)) != kNameArrays.end() &&
           file.columns().size() == 1 && file.columns()[0].kind == Kind::kText && !array.array->has_fields() &&
           file.n_rows() == wide->array->columns().size();
  });
  if (names == arrays_.end()) return;
  const ColumnFile& file = *names->array;
  column_names_.resize(static_cast<std::size_t>(file.n_rows()));
  const std::vector<std::uint64_t>& begins = file.group_begins();
  for (std::size_t group = 0; group + 1 < begins.size(); ++group) {
    const auto take = [&](std::size_t row, std::string_view text) {
      column_names_[static_cast<std::size_t>(begins[group]) + row] = text;
    };
    try {
      file.read({begins[group], begins[group + 1]}, std::array{ColumnRead{0, {}, take}});
    } catch (const ColumnFault& fault) {
      throw_input_error("{}: row {}: {}", file.name(), fault.row, fault.message);
    }
  }
  arrays_.erase(names);
}

// Moves arrays with another number of rows than most to the others.
void NamedArrays::move_others() {
  std::map<std::uint64_t, std::size_t> n_arrays;
  for (const Named& array : arrays_) n_arrays[array.array->n_rows()] += array.meaning.is_coordinate ? 0 : 1;
  std::uint64_t n_rows = arrays_[0].array->n_rows();
  for (const Named& array : arrays_) {
    if (n_arrays[array.array->n_rows()] > n_arrays[n_rows]) n_rows = array.array->n_rows();
  }
  for (const Named& array : arrays_) {
    if (array.array->n_rows() == n_rows) continue;
    add_other(array.name, fmt::format("{} rows, others have {}", array.array->n_rows(), n_rows),
              array.meaning.is_coordinate ? kCoordinate : "");
  }
  std::erase_if(arrays_, [&](const Named& array) { return array.array->n_rows() != n_rows; });
}

std::vector<std::string> NamedArrays::names_of(const Named& array, bool is_only_wide) const {
  const std::vector<Column>& columns = array.array->columns();
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  if (array.array->has_fields()) return names;
  if (array.array->n_dimensions() == 1) return {array.name};
  is_only_wide = is_only_wide && is_wide(array);
  if (is_only_wide && column_names_.size() == names.size()) return column_names_;
  const bool is_main = array.array->n_dimensions() > 2 ||
                       std::ranges::find(kMainArrays, std::string_view(array.name)) != kMainArrays.end();
  if (is_only_wide && is_main) return names;
  for (std::size_t j = 0; j < names.size(); ++j) names[j] = fmt::format("{}{}", array.name, j);
  return names;
}

FileNotes NamedArrays::notes() const {
  FileNotes notes{.has_keys = true};
  if (std::string line = line_of_shape(); !line.empty()) notes.lines.push_back(std::move(line));
  const auto add = [&](std::string what, std::string value) {
    if (!value.empty()) notes.common.emplace_back(std::move(what), std::move(value));
  };
  std::string names;
  for (const Named& array : arrays_) {
    if (array.meaning.is_coordinate) {
      notes.coordinate_units.emplace_back(array.name, array.meaning.units);
      continue;
    }
    const std::string name = printable(array.name);
    add("the units of " + name, array.meaning.units);
    std::vector<std::string> dimensions;
    for (const auto& [dimension, values] : array.meaning.dimensions) {
      dimensions.push_back(dimension);
      add(fmt::format("where {} lies along {}", name, printable(dimension)), values);
    }
    if (dimensions.empty()) continue;
    add("the dimensions of " + name, printable_list(dimensions));
    names += (names.empty() ? "" : ", ") + name;
  }
  add("what has dimensions", names);
  return notes;
}

// "rows are 'time'; columns are 'sst' ('lat' 20 x 'lon' 36)", as far as it is known, or there are several such arrays.
std::string NamedArrays::line_of_shape() const {
  constexpr std::size_t kMostShown = 5;
  constexpr std::size_t kMostNameBytes = 100;
  std::string rows, columns;
  const Named* last = nullptr;
  std::size_t n_shown = 0;
  for (const Named& array : arrays_) {
    if (array.meaning.is_coordinate) continue;
    const auto& dimensions = array.meaning.dimensions;
    if (rows.empty() && !dimensions.empty()) rows = dimensions[0].first;
    if (!is_wide(array) || n_shown++ >= kMostShown) continue;
    last = &array;
    std::string sizes;
    for (std::size_t d = 1; d < array.array->n_dimensions(); ++d) {
      const bool has_name = d < dimensions.size() && !dimensions[d].first.empty();
      sizes += fmt::format("{}{}{}", d == 1 ? "" : " x ", has_name ? printable(dimensions[d].first) + " " : "",
                           array.array->shape()[d]);
    }
    columns += fmt::format("{}{} ({})", columns.empty() ? "" : ", ", printable(array.name), sizes);
  }
  if (n_shown > kMostShown) columns += ", ...";
  std::string line = rows.empty() ? "" : "rows are " + printable(rows);
  if (last == nullptr || (rows.empty() && n_shown == 1)) return line;
  line += fmt::format("{}columns are {}", line.empty() ? "" : "; ", columns);
  if (n_shown == 1) return line;
  return line + fmt::format(", side by side (for one alone: --key {}{}{})", key_, key_.empty() ? "" : "/",
                            printable_line(last->name, kMostNameBytes));
}

}  // namespace podere::columns
