#include "podere/columns/arrow_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "podere/columns/arrow_arrays.h"
#include "podere/columns/arrow_number.h"

namespace podere::columns {
namespace {

std::string arrow_beyond_float(std::string_view text) {
  return fmt::format("{} is beyond float32, which ends at 3.4e38", text);
}

/// Gives values of one column to where they are wanted.
class ArrowTaker {
 public:
  ArrowTaker(const ArrowType& type, std::uint64_t first_row, const ColumnRead& wanted)
      : type_(type), first_row_(first_row), wanted_(wanted) {}

  template <typename T>
  void operator()(std::size_t row, const T& value) const {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (wanted_.take_text) wanted_.take_text(row, value);
    } else if (wanted_.numbers.empty()) {
      check_time(row, value);
      wanted_.take_text(row, arrow_text(type_, value));
    } else {
      check_time(row, value);
      const float number = arrow_number(type_, value);
      if (is_beyond(value, number)) fault(row, arrow_beyond_float(arrow_text(type_, value)));
      wanted_.numbers[row] = number;
    }
  }

  [[noreturn]] void fault(std::size_t row, std::string message) const {
    throw ColumnFault{first_row_ + row, wanted_.column, std::move(message)};
  }

 private:
  template <typename T>
  void check_time(std::size_t row, const T& value) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (type_.kind != Kind::kTimeOfDay || (value >= 0 && value <= type_.units_in_day)) return;
      fault(row, fmt::format("{} is no time of day ({})", value, type_.text));
    }
  }

  const ArrowType& type_;
  std::uint64_t first_row_;
  const ColumnRead& wanted_;
};

}  // namespace

void read_arrow_column(const ArrowBytes& bytes, const ArrowArray& array, const ArrowField& field,
                       const ArrowDictionary* dictionary, table::RowRange rows, std::uint64_t first_row,
                       const ColumnRead& wanted) {
  std::ranges::fill(wanted.numbers, std::numeric_limits<float>::quiet_NaN());
  const ArrowTaker taker(field.type, first_row, wanted);
  if (dictionary == nullptr) {
    each_arrow_value(bytes, array, field.type.storage, field.type, rows, taker);
    return;
  }
  if (field.type.storage == ArrowStorage::kNull) return;
  const auto look_up = [&](std::size_t row, const auto& value) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      const auto place = static_cast<std::uint64_t>(+value);  // of one below 0: far beyond the end
      if (place >= dictionary->size()) {
        taker.fault(row, fmt::format("is value {} of a dictionary of {}", value, dictionary->size()));
      }
      if (dictionary->is_missing(place)) return;
      if (wanted.numbers.empty()) return wanted.take_text(row, dictionary->text(place));
      if (dictionary->is_beyond_float(place)) taker.fault(row, arrow_beyond_float(dictionary->text(place)));
      wanted.numbers[row] = dictionary->number(place);
    }
  };
  each_arrow_value(bytes, array, field.index, field.type, rows, look_up);
}

}  // namespace podere::columns
