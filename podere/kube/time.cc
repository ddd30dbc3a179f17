#include "podere/kube/time.h"

#include <fmt/format.h>

#include <charconv>

namespace podere::kube {
namespace {

using std::chrono::floor;
using std::chrono::sys_days;

std::string date_and_time(Time time) {
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int{date.year()}, unsigned{date.month()},
                     unsigned{date.day()}, clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

/// Takes pieces off the front of a text; after the first that is not there it is not good any more.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// A number of so many digits.
  int digits(std::size_t n) {
    int value = 0;
    const std::string_view piece = text_.substr(0, n);
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
    good_ = good_ && piece.size() == n && piece.front() != '-' && error == std::errc() && end == piece.data() + n;
    text_.remove_prefix(piece.size());
    return value;
  }
  /// One of these characters.
  char one_of(std::string_view allowed) {
    if (!comes(allowed)) {
      good_ = false;
      return '\0';
    }
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  bool comes(std::string_view allowed) const {
    return !text_.empty() && allowed.find(text_.front()) != std::string_view::npos;
  }
  bool is_good_and_at_end() const { return good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

}  // namespace

std::string to_text(Time time) { return date_and_time(time) + "Z"; }

std::string to_text_with_micros(Time time) {
  const auto micros = floor<std::chrono::microseconds>(time).time_since_epoch().count() % 1'000'000;
  return fmt::format("{}.{:06}Z", date_and_time(time), micros);
}

std::optional<Time> time_from_text(std::string_view text) {
  Scanner scanner(text);
  const int year = scanner.digits(4);
  scanner.one_of("-");
  const auto month = static_cast<unsigned>(scanner.digits(2));
  scanner.one_of("-");
  const auto day = static_cast<unsigned>(scanner.digits(2));
  scanner.one_of("Tt");
  const std::chrono::hours hours(scanner.digits(2));
  scanner.one_of(":");
  const std::chrono::minutes minutes(scanner.digits(2));
  scanner.one_of(":");
  const std::chrono::seconds seconds(scanner.digits(2));
  std::chrono::nanoseconds fraction(0);
  if (scanner.comes(".")) {
    scanner.one_of(".");
    std::int64_t unit = 100'000'000;
    do {
      fraction += std::chrono::nanoseconds(unit * scanner.digits(1));
      unit /= 10;
    } while (scanner.comes("0123456789"));
  }
  std::chrono::minutes offset(0);
  const char sign = scanner.one_of("Zz+-");
  if (sign == '+' || sign == '-') {
    offset = std::chrono::hours(scanner.digits(2));
    scanner.one_of(":");
    offset += std::chrono::minutes(scanner.digits(2));
    if (sign == '-') offset = -offset;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  // 60 is a leap second. The clock counts nanoseconds in 64 bits, up to the year 2262.
  const bool is_time =
      date.ok() && year >= 1678 && year <= 2261 && hours.count() < 24 && minutes.count() < 60 && seconds.count() <= 60;
  if (!scanner.is_good_and_at_end() || !is_time) return std::nullopt;
  return std::chrono::time_point_cast<Time::duration>(sys_days(date) + hours + minutes + seconds + fraction - offset);
}

}  // namespace podere::kube
