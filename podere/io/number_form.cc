#include "podere/io/number_form.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>

#include "podere/io/decimal.h"

namespace podere::io {
namespace {

using namespace std::string_view_literals;

std::optional<double> decimal(std::string_view text) {
  float value = 0;
  if (!parse_float(text, value) || !std::isfinite(value)) return std::nullopt;
  return value;
}

constexpr std::array kNarrowSpaces = {"\xc2\xa0"sv, "\xe2\x80\xaf"sv, "\xe2\x80\x89"sv};  // no-break, narrow, thin

/// A number whose whole part is in groups of three digits behind the first, parted by `mark`, a blank or an apostrophe,
/// and whose fraction follows `point`. No group may be needed. 0 for `mark` or `point`: there is none.
std::optional<double> grouped(std::string_view text, char mark, char point) {
  std::string plain;
  std::size_t n_digits = 0, n_groups = 0;
  char used = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    plain = text[0];
    text.remove_prefix(1);
  }
  const auto take_mark = [&]() -> std::size_t {
    for (const std::string_view space : kNarrowSpaces) {
      if (text.starts_with(space)) return space.size();
    }
    const bool is_mark = !text.empty() && (text[0] == ' ' || text[0] == '\'' || (mark != 0 && text[0] == mark));
    return is_mark ? 1 : 0;
  };
  while (!text.empty()) {
    if (detail::is_digit(text[0])) {
      plain += text[0];
      ++n_digits;
      if (n_groups > 0 && n_digits > 3) return std::nullopt;
      text.remove_prefix(1);
    } else if (const std::size_t size = take_mark(); size > 0) {
      const bool begins_with_0 = plain.find_first_not_of("+-") == plain.find('0');
      const bool is_phone_number = plain[0] == '+' && text[0] != '.' && text[0] != ',';  // +39 055 123
      if (begins_with_0 || is_phone_number) return std::nullopt;
      const bool fits = n_groups == 0 ? n_digits >= 1 && n_digits <= 3 : n_digits == 3 && text[0] == used;
      if (!fits) return std::nullopt;
      used = text[0];
      ++n_groups;
      n_digits = 0;
      text.remove_prefix(size);
    } else {
      break;
    }
  }
  if (n_digits == 0 || (n_groups > 0 && n_digits != 3)) return std::nullopt;
  if (!text.empty()) {
    const bool has_point = point != 0 && text[0] == point;
    if (!has_point && text[0] != 'e' && text[0] != 'E') return std::nullopt;
    if (has_point) {
      plain += '.';
      text.remove_prefix(1);
    }
    if (text.find('.') != text.npos) return std::nullopt;
    plain += text;
  }
  return decimal(plain);
}

std::optional<double> groups(std::string_view text) { return grouped(text, 0, 0); }
std::optional<double> decimal_comma(std::string_view text) { return grouped(text, '.', ','); }
std::optional<double> thousands(std::string_view text) { return grouped(text, ',', '.'); }

std::optional<double> percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return decimal(text);
}

bool is_word(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word,
                            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

template <const char* kTrue, const char* kFalse>
std::optional<double> boolean(std::string_view text) {
  if (is_word(text, kTrue)) return 1;
  if (is_word(text, kFalse)) return 0;
  return std::nullopt;
}

/// Takes a number of two digits, or one where that is allowed, at most `most`, from the front of a text.
std::optional<int> take_number(std::string_view& text, int most, std::size_t least_digits = 2) {
  int number = 0;
  std::size_t n_digits = 0;
  while (n_digits < 2 && n_digits < text.size() && detail::is_digit(text[n_digits])) {
    number = 10 * number + (text[n_digits++] - '0');
  }
  if (n_digits < least_digits || number > most) return std::nullopt;
  text.remove_prefix(n_digits);
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// Takes a time of day from the front of a text, in seconds: 9:30, 09:30:00.25, 9:30 PM.
std::optional<double> take_time(std::string_view& text) {
  auto hours = take_number(text, 24, 1);
  if (!hours || !take(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 59);
  if (!minutes) return std::nullopt;
  double seconds = 0;
  if (take(text, ":")) {
    const auto whole = take_number(text, 60);
    if (!whole) return std::nullopt;
    seconds = *whole;
    if (take(text, ".") || take(text, ",")) {
      double unit = 1;
      if (text.empty() || !detail::is_digit(text[0])) return std::nullopt;
      for (; !text.empty() && detail::is_digit(text[0]); text.remove_prefix(1)) {
        seconds += (unit /= 10) * (text[0] - '0');
      }
    }
  }
  std::string_view behind = text;
  while (take(behind, " ")) {
  }
  const bool is_morning = behind.size() > 1 && is_word(behind.substr(0, 2), "am");
  if (is_morning || (behind.size() > 1 && is_word(behind.substr(0, 2), "pm"))) {
    if (*hours < 1 || *hours > 12) return std::nullopt;
    hours = *hours % 12 + (is_morning ? 0 : 12);
    text = behind.substr(2);
  }
  const double time = 3600.0 * *hours + 60 * *minutes + seconds;
  return time <= 24 * 3600 ? std::optional(time) : std::nullopt;
}

/// Takes a time zone from the front of a text: seconds that it is ahead of UTC.
std::optional<int> take_zone(std::string_view& text) {
  while (take(text, " ")) {
  }
  if (take(text, "Z") || take(text, "UTC") || take(text, "GMT")) return 0;
  const bool is_behind = text.starts_with('-');
  if (!is_behind && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_number(text, 23);
  if (!hours) return std::nullopt;
  take(text, ":");
  const auto minutes = text.empty() ? std::optional(0) : take_number(text, 59);
  if (!minutes) return std::nullopt;
  return (is_behind ? -1 : 1) * (3600 * *hours + 60 * *minutes);
}

std::optional<double> time_of_day(std::string_view text) {
  const auto seconds = take_time(text);
  if (!seconds || !text.empty()) return std::nullopt;
  return *seconds / 86400;
}

template <const char* kFormat, bool kHasZone>
std::optional<double> date(std::string_view text) {
  return parse_date(text, kFormat, kHasZone);
}

constexpr char kTrue[] = "true", kFalse[] = "false", kYes[] = "yes", kNo[] = "no", kT[] = "t", kF[] = "f", kY[] = "y",
               kN[] = "n", kOn[] = "on", kOff[] = "off";

constexpr char kYmd[] = "%Y-%m-%d", kYmdSlash[] = "%Y/%m/%d", kYmdPoint[] = "%Y.%m.%d", kDmyPoint[] = "%d.%m.%Y",
               kDmySlash[] = "%d/%m/%Y", kMdySlash[] = "%m/%d/%Y", kDmyDash[] = "%d-%m-%Y", kMdyDash[] = "%m-%d-%Y",
               kDayName[] = "%d %b %Y", kDayNameDash[] = "%d-%b-%Y", kNameDay[] = "%b %d, %Y",
               kNameDayYear[] = "%b %d %Y", kYearNameDay[] = "%Y-%b-%d", kDayPointName[] = "%d. %b %Y";

template <const char* kWhenTrue, const char* kWhenFalse>
constexpr NumberForm boolean_form() {
  return {.kind = "boolean",
          .name = "booleans",
          .meaning = "1 where true",
          .example = kWhenTrue,
          .is_boolean = true,
          .read = boolean<kWhenTrue, kWhenFalse>};
}

template <const char* kFormat, bool kHasZone = false>
constexpr NumberForm date_form(const char* example, std::optional<bool> day_first = {}) {
  return {.kind = "date",
          .name = "dates",
          .meaning = "days since 1970-01-01",
          .example = example,
          .is_date = true,
          .day_first = day_first,
          .read = date<kFormat, kHasZone>};
}

constexpr std::array<NumberForm, kNumberForms> kForms = {
    NumberForm{.kind = "number",
               .name = "numbers in groups",
               .meaning = "",
               .example = "1 234",
               .has_plain = true,
               .read = groups},
    NumberForm{.kind = "number",
               .name = "numbers with a decimal comma",
               .meaning = "",
               .example = "1,5",
               .has_plain = true,
               .read = decimal_comma},
    NumberForm{.kind = "number",
               .name = "numbers with a comma every three digits",
               .meaning = "",
               .example = "1,234.5",
               .has_plain = true,
               .read = thousands},
    NumberForm{
        .kind = "percentage", .name = "percentages", .meaning = "12 for 12 %", .example = "12 %", .read = percent},
    boolean_form<kTrue, kFalse>(),
    boolean_form<kYes, kNo>(),
    boolean_form<kT, kF>(),
    boolean_form<kY, kN>(),
    boolean_form<kOn, kOff>(),
    NumberForm{.kind = "time", .name = "times of day", .meaning = "days", .example = "09:30:00", .read = time_of_day},
    date_form<kYmd>("2026-01-31"),
    date_form<kYmdSlash>("2026/01/31"),
    date_form<kYmdPoint>("2026.01.31"),
    date_form<kDmyPoint>("31.01.2026"),
    date_form<kDmySlash>("31/01/2026", true),
    date_form<kMdySlash>("01/31/2026", false),
    date_form<kDmyDash>("31-01-2026", true),
    date_form<kMdyDash>("01-31-2026", false),
    date_form<kDayName>("31 Jan 2026"),
    date_form<kDayNameDash>("31-Jan-2026"),
    date_form<kNameDay>("Jan 31, 2026"),
    date_form<kNameDayYear>("Jan 31 2026"),
    date_form<kYearNameDay>("2026-Jan-31"),
    date_form<kDayPointName>("31. Jan 2026"),
    date_form<kYmd, true>("2026-01-31T09:30:00Z"),
    date_form<kYmdSlash, true>("2026/01/31 09:30:00Z"),
    date_form<kYmdPoint, true>("2026.01.31 09:30:00Z"),
    date_form<kDmyPoint, true>("31.01.2026 09:30:00Z"),
    date_form<kDmySlash, true>("31/01/2026 09:30:00Z", true),
    date_form<kMdySlash, true>("01/31/2026 09:30:00Z", false),
    date_form<kDmyDash, true>("31-01-2026 09:30:00Z", true),
    date_form<kMdyDash, true>("01-31-2026 09:30:00Z", false),
    date_form<kDayName, true>("31 Jan 2026 09:30:00Z"),
    date_form<kDayNameDash, true>("31-Jan-2026 09:30:00Z"),
    date_form<kNameDay, true>("Jan 31, 2026 09:30:00Z"),
    date_form<kNameDayYear, true>("Jan 31 2026 09:30:00Z"),
    date_form<kYearNameDay, true>("2026-Jan-31 09:30:00Z"),
};

}  // namespace

std::span<const NumberForm, kNumberForms> number_forms() { return kForms; }

std::uint64_t forms_of(std::string_view text, std::uint64_t asked_for) {
  constexpr std::size_t kLongest = 48;
  std::uint64_t bits = 0;
  if (text.size() > kLongest || text.find('\0') != text.npos) return bits;
  const bool has_digits = std::ranges::any_of(text, detail::is_digit);
  for (std::size_t i = 0; i < kNumberForms; ++i) {
    if ((asked_for >> i & 1) == 0) continue;
    if (kForms[i].is_boolean != has_digits && kForms[i].read(text)) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

double part_of_date(double days, DatePart part) {
  const std::chrono::sys_days day{std::chrono::days(static_cast<int>(std::floor(days)))};
  const std::chrono::year_month_day date(day);
  switch (part) {
    case DatePart::kYear:
      return static_cast<int>(date.year());
    case DatePart::kMonth:
      return static_cast<unsigned>(date.month());
    case DatePart::kDay:
      return static_cast<unsigned>(date.day());
    case DatePart::kWeekday:
      return std::chrono::weekday(day).iso_encoding() - 1;
    case DatePart::kHour:
      return 24 * (days - std::floor(days));
    default:
      return days;
  }
}

std::optional<double> parse_date(std::string_view text, const char* format, bool has_zone) {
  if (text.size() > 63) return std::nullopt;
  const std::string copy(text);
  tm parts{};
  const char* const rest = strptime(copy.c_str(), format, &parts);
  if (rest == nullptr || copy.find('\0') != copy.npos) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  constexpr int kLeastYear = 1000;  // fewer digits are of no certain century
  if (!day.ok() || parts.tm_year + 1900 < kLeastYear) return std::nullopt;
  double seconds = 0;
  std::string_view behind(rest);
  if (!behind.empty()) {
    if (!take(behind, "T") && !take(behind, " ")) return std::nullopt;
    while (take(behind, " ")) {
    }
    const auto time = take_time(behind);
    if (!time) return std::nullopt;
    seconds = *time;
    const auto zone = behind.empty() ? std::nullopt : take_zone(behind);
    if (zone.has_value() != has_zone || !behind.empty()) return std::nullopt;
    seconds -= zone.value_or(0);
  } else if (has_zone) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  return static_cast<double>(days) + seconds / 86400;
}

}  // namespace podere::io
