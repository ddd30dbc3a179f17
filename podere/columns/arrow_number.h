// Values of Arrow's types as the numbers and texts of a table.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "podere/columns/arrow_schema.h"
#include "podere/columns/number.h"
#include "podere/columns/value_text.h"
#include "podere/io/decimal.h"

namespace podere::columns {

/// Digits of a signed integer of any size, little-endian, with the point `scale` digits before the end.
std::string decimal_text(const std::uint8_t* bytes, std::size_t n_bytes, int scale);

/// The text of a decimal, which is its value.
struct ArrowDecimal {
  std::string text;
};

/// The nearest float32; an infinity beyond.
template <typename T>
float arrow_number(const ArrowType& type, const T& value) {
  if constexpr (std::is_same_v<T, ArrowDecimal>) {
    float number = NAN;
    io::parse_float(value.text, number);
    return number;
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>) {
    return static_cast<float>(value);
  } else {
    if (type.units_in_day == 0) return static_cast<float>(value);
    return static_cast<float>(days_of(static_cast<std::int64_t>(value), type.units_in_day));
  }
}

template <typename T>
std::string arrow_text(const ArrowType& type, const T& value) {
  if constexpr (std::is_same_v<T, ArrowDecimal>) {
    return value.text;
  } else if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>) {
    return text_of(value);
  } else {
    if (type.units_in_day == 0) {
      if constexpr (std::is_signed_v<T>) return text_of(static_cast<std::int64_t>(value));
      return text_of(static_cast<std::uint64_t>(value));
    }
    const double days = days_of(static_cast<std::int64_t>(value), type.units_in_day);
    if (type.kind == Kind::kDate) return date_text(days);
    return type.kind == Kind::kTimeOfDay ? time_text(days) : text_of(days);
  }
}

/// Whether a number that is none of the values became an infinity.
template <typename T>
bool is_beyond(const T& value, float number) {
  if constexpr (std::is_floating_point_v<T>) return std::isinf(number) && !std::isinf(value);
  return std::isinf(number);
}

}  // namespace podere::columns
