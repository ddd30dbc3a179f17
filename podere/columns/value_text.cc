#include "podere/columns/value_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace podere::columns {
namespace {

/// The hundredth part of a microsecond is beyond a double that counts days.
constexpr double kMicrosecondsPerDay = 86'400e6;

}  // namespace

std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(float value) { return fmt::format("{}", value); }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string text_of(bool value) { return value ? "True" : "False"; }

std::string date_text(double days) {
  constexpr double kMostDays = 2'932'897;  // behind 9999-12-31
  if (!(std::abs(days) < kMostDays)) return fmt::format("{} days", days);
  const double whole = std::floor(days);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(static_cast<int>(whole))}};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (days != whole) text += " " + time_text(days - whole);
  return text;
}

std::string time_text(double days) {
  const auto microseconds = std::llround(days * kMicrosecondsPerDay);
  const auto seconds = microseconds / 1'000'000, rest = microseconds % 1'000'000;
  std::string text = fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (rest != 0) {
    text += fmt::format(".{:06}", rest);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

}  // namespace podere::columns
