// Texts that stand for numbers and are not plain decimal ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace podere::io {

/// A way to write numbers, which all fields of a column follow.
struct NumberForm {
  const char* kind;        ///< of one of its numbers: number, percentage, boolean, time or date
  const char* name;        ///< of its texts, for users
  const char* meaning;     ///< of its numbers; empty where there is nothing to explain
  const char* example;     ///< of a text
  bool has_plain = false;  ///< whole numbers without any marks are of this form too
  bool is_boolean = false;
  bool is_date = false;             ///< days since the begin of 1970
  std::optional<bool> day_first{};  ///< of dates that could be read as another form: day or month first
  /// The number that all of a text stands for; nothing if it is not of this form.
  std::optional<double> (*read)(std::string_view text);
};

/// In the order of preference, but for kDecimalComma and kThousands, and dates with day or month first, which may mean
/// different numbers by the same text.
inline constexpr std::size_t kNumberForms = 37;
std::span<const NumberForm, kNumberForms> number_forms();

/// Places in number_forms().
inline constexpr std::size_t kGroups = 0;        ///< 1 234, 1'234
inline constexpr std::size_t kDecimalComma = 1;  ///< 1,5; 1.234,5; 1 234,5
inline constexpr std::size_t kThousands = 2;     ///< 1,234; 1,234.5
inline constexpr std::size_t kTrueFalse = 4;
inline constexpr std::size_t kTimeOfDay = 9;
inline constexpr std::size_t kFirstDate = 10;  ///< 2026-01-31

/// Which of number_forms() a text is of, of those that are asked for: a bit each.
std::uint64_t forms_of(std::string_view text, std::uint64_t asked_for = ~std::uint64_t{0});

/// What a date says beside its day: features of their own, called "when.month".
enum class DatePart : std::uint8_t { kNone, kYear, kMonth, kDay, kWeekday, kHour };
inline constexpr std::array<std::string_view, 6> kDatePartNames = {"", "year", "month", "day", "weekday", "hour"};

/// Of days since the begin of 1970: the year; the month from 1; its day from 1; the day of the week, 0 for Monday; the
/// hour from 0, with its fraction; kNone: the days.
double part_of_date(double days, DatePart part);

/// A calendar date with an optional time of day and time zone, in days since the begin of 1970 in UTC, or in the place
/// where there is no zone. `format`: of the date, as strptime has it, with a year of four digits. Nothing if `text` is
/// anything else, or there is no such day or time.
std::optional<double> parse_date(std::string_view text, const char* format, bool has_zone);

}  // namespace podere::io
