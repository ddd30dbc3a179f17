#include "podere/columns/npy_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "podere/base/printable.h"
#include "podere/columns/number.h"
#include "podere/columns/python_literal.h"
#include "podere/columns/value_text.h"

namespace podere::columns {
namespace {

using TypeKind = NpyType::Kind;

constexpr double kMissingDay = std::numeric_limits<double>::quiet_NaN();

template <typename T>
T load(const std::byte* from, bool is_big_endian) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (is_big_endian) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

/// A unit that NumPy counts time in: `divisor` of it are one that is counted, of which a day has `per_day`. Finer ones
/// than picoseconds are beyond a double that counts days.
struct TimeUnit {
  std::string_view name;
  char code;  // of NpyType
  std::int64_t divisor;
  std::int64_t per_day;  // 0: the calendar has them
};

constexpr std::array<TimeUnit, 13> kTimeUnits = {{{"Y", 'Y', 1, 0},
                                                  {"M", 'M', 1, 0},
                                                  {"W", 'W', 1, 0},
                                                  {"D", 'D', 1, 1},
                                                  {"h", 'h', 1, 24},
                                                  {"m", 'm', 1, 1440},
                                                  {"s", 's', 1, 86'400},
                                                  {"ms", 'i', 1, 86'400'000},
                                                  {"us", 'u', 1, 86'400'000'000},
                                                  {"ns", 'n', 1, 86'400'000'000'000},
                                                  {"ps", 'p', 1, 86'400'000'000'000'000},
                                                  {"fs", 'f', 1'000, 86'400'000'000'000'000},
                                                  {"as", 'a', 1'000'000, 86'400'000'000'000'000}}};

std::int64_t floor_div(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

/// The day on which a month begins, counted from January 1970. Far from now a year has 365.2425 days.
double day_of_month(std::int64_t month) {
  constexpr std::int64_t kMost = 12 * 20'000;
  if (std::abs(month) > kMost) return static_cast<double>(month) * (365.2425 / 12);
  const std::chrono::year year(static_cast<int>(1970 + floor_div(month, 12)));
  const std::chrono::month name(static_cast<unsigned>(month - 12 * floor_div(month, 12)) + 1);
  return static_cast<double>(std::chrono::sys_days(year / name / 1).time_since_epoch().count());
}

/// Days that a value counts; NaN for NaT.
double days_of_value(const NpyType& type, std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return kMissingDay;
  const TimeUnit& unit = *std::ranges::find(kTimeUnits, type.unit, &TimeUnit::code);
  // So many times more than there are bits for are centuries that no table takes; only the sign matters.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 12;
  std::int64_t scale = type.n_units;
  if (unit.code == 'W') scale *= 7;
  if (unit.code == 'Y') scale *= 12;
  const std::int64_t most = kMost / scale;
  if (value > most || value < -most) {
    const double per_day = unit.per_day == 0 ? 12 / 365.2425 : static_cast<double>(unit.per_day);
    return static_cast<double>(value) * static_cast<double>(scale) / static_cast<double>(unit.divisor) / per_day;
  }
  const std::int64_t units = value * scale;
  if (unit.code == 'W') return static_cast<double>(units);
  if (unit.per_day == 0) return day_of_month(units);
  const std::int64_t counted = floor_div(units, unit.divisor);
  return days_of(counted, unit.per_day);
}

/// Calls `body` with a function from a place to its value, of type bool, an integer, float or double.
template <typename Body>
auto with_numbers(const NpyType& type, Body&& body) {
  const bool big = type.is_big_endian;
  const auto loaded = [&]<typename T>(T) { return body([big](const std::byte* from) { return load<T>(from, big); }); };
  switch (type.kind) {
    case TypeKind::kBool:
      return body([](const std::byte* from) { return *from != std::byte{0}; });
    case TypeKind::kInt:
      if (type.bytes == 1) return loaded(std::int8_t{});
      if (type.bytes == 2) return loaded(std::int16_t{});
      if (type.bytes == 4) return loaded(std::int32_t{});
      return loaded(std::int64_t{});
    case TypeKind::kUint:
      if (type.bytes == 1) return loaded(std::uint8_t{});
      if (type.bytes == 2) return loaded(std::uint16_t{});
      if (type.bytes == 4) return loaded(std::uint32_t{});
      return loaded(std::uint64_t{});
    case TypeKind::kFloat:
      if (type.bytes == 2) {
        return body([big](const std::byte* from) { return from_half(load<std::uint16_t>(from, big)); });
      }
      if (type.bytes == 4) return loaded(float{});
      return loaded(double{});
    default:
      return body([&type, big](const std::byte* from) { return days_of_value(type, load<std::int64_t>(from, big)); });
  }
}

template <typename T>
std::optional<std::string> number_text(const NpyType& type, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::nullopt;
    return type.kind == TypeKind::kDate ? date_text(value) : text_of(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return text_of(value);
  } else if constexpr (std::is_signed_v<T>) {
    return text_of(std::int64_t{value});
  } else {
    return text_of(std::uint64_t{value});
  }
}

/// All of `text` as a number; nothing for anything else, signs too.
std::optional<std::uint32_t> parse_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

/// Sets the unit by what is in brackets, such as "ns" or "25s". False if it is none.
bool set_unit(std::string_view text, NpyType& type) {
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  text = text.substr(1, text.size() - 2);
  const std::size_t n_digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (n_digits > 0) {
    const auto count = parse_count(text.substr(0, n_digits));
    if (!count || *count == 0) return false;
    type.n_units = *count;
  }
  const auto unit = std::ranges::find(kTimeUnits, text.substr(n_digits), &TimeUnit::name);
  if (unit == kTimeUnits.end()) return false;
  type.unit = unit->code;
  return true;
}

}  // namespace

std::optional<NpyType> parse_npy_type(std::string_view text) {
  if (text.size() < 2 || std::string_view("<>|=").find(text[0]) == std::string_view::npos) return std::nullopt;
  NpyType type;
  type.is_big_endian = text[0] == '>';
  const char code = text[1];
  std::string_view rest = text.substr(2);
  std::string_view unit;
  if (code == 'M' || code == 'm') unit = rest.substr(std::min(rest.find('['), rest.size()));
  rest.remove_suffix(unit.size());
  if (code == 'O') {
    if (!rest.empty() && !parse_count(rest)) return std::nullopt;
    type.bytes = 8;
    type.name = "object";
    return type;
  }
  const auto count = parse_count(rest);
  if (!count) return std::nullopt;
  const std::uint64_t bytes = std::uint64_t{*count} * (code == 'U' ? 4 : 1);
  if (bytes > kMostNpyRowBytes) return std::nullopt;
  type.bytes = static_cast<std::size_t>(bytes);
  const auto set = [&](TypeKind kind, std::string name) {
    type.kind = kind;
    type.name = std::move(name);
    return type;
  };
  const bool is_integer_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  switch (code) {
    case 'b':
      return bytes == 1 ? std::optional(set(TypeKind::kBool, "bool")) : std::nullopt;
    case 'i':
      return is_integer_size ? std::optional(set(TypeKind::kInt, fmt::format("int{}", 8 * bytes))) : std::nullopt;
    case 'u':
      return is_integer_size ? std::optional(set(TypeKind::kUint, fmt::format("uint{}", 8 * bytes))) : std::nullopt;
    case 'f':
      return set(is_integer_size && bytes > 1 ? TypeKind::kFloat : TypeKind::kOther, fmt::format("float{}", 8 * bytes));
    case 'c':
      return set(TypeKind::kOther, fmt::format("complex{}", 8 * bytes));
    case 'S':
    case 'a':
      return set(TypeKind::kBytes, fmt::format("S{}", bytes));
    case 'U':
      return set(TypeKind::kText, fmt::format("U{}", *count));
    case 'M':
    case 'm': {
      if (bytes != 8) return std::nullopt;
      const bool is_date = code == 'M';
      set(is_date ? TypeKind::kDate : TypeKind::kDuration,
          fmt::format("{}64{}", is_date ? "datetime" : "timedelta", unit));
      if (unit.empty() || !set_unit(unit, type)) type.kind = TypeKind::kOther;
      const bool is_of_calendar = type.unit == 'Y' || type.unit == 'M';
      if (!is_date && is_of_calendar) type.kind = TypeKind::kOther;  // months differ
      return type;
    }
    case 'V':
      return set(TypeKind::kOther, fmt::format("void{}", 8 * bytes));
    default:
      return std::nullopt;
  }
}

Kind kind_of(const NpyType& type) {
  switch (type.kind) {
    case TypeKind::kBool:
      return Kind::kBoolean;
    case TypeKind::kBytes:
    case TypeKind::kText:
      return Kind::kText;
    case TypeKind::kDate:
      return Kind::kDate;
    case TypeKind::kOther:
      return Kind::kOther;
    default:
      return Kind::kNumber;
  }
}

std::optional<std::size_t> read_npy_numbers(const NpyType& type, const std::byte* from, std::size_t stride,
                                            std::span<float> to) {
  return with_numbers(type, [&](const auto& value_at) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto value = value_at(from + i * stride);
      to[i] = static_cast<float>(value);
      if constexpr (std::is_same_v<decltype(value), const double>) {
        if (std::isinf(to[i]) && std::isfinite(value)) return i;
      }
    }
    return std::nullopt;
  });
}

void read_npy_doubles(const NpyType& type, const std::byte* from, std::size_t stride, std::span<double> to) {
  with_numbers(type, [&](const auto& value_at) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<double>(value_at(from + i * stride));
  });
}

std::optional<std::string> read_npy_text(const NpyType& type, const std::byte* from) {
  if (type.kind == TypeKind::kBytes) {
    std::string_view text(reinterpret_cast<const char*>(from), type.bytes);
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    if (!is_utf8(text)) throw NpyTextFault{fmt::format("{} is not UTF-8", printable(text))};
    return std::string(text);
  }
  if (type.kind == TypeKind::kText) {
    std::string text;
    std::size_t n = type.bytes / 4;
    while (n > 0 && load<std::uint32_t>(from + 4 * (n - 1), false) == 0) --n;
    for (std::size_t i = 0; i < n; ++i) {
      const auto character = load<std::uint32_t>(from + 4 * i, type.is_big_endian);
      if (!append_utf8(text, character)) throw NpyTextFault{fmt::format("{:#x} is no character of Unicode", character)};
    }
    return text;
  }
  return with_numbers(type, [&](const auto& value_at) { return number_text(type, value_at(from)); });
}

}  // namespace podere::columns
