// Enumerations by the names that their values have in files, options and messages.
#pragma once

#include <fmt/ranges.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere {

/// What an enumeration is called, and the names of its values, which count from 0.
template <std::size_t n>
struct EnumNames {
  const char* what;
  std::array<const char*, n> values;
};

/// An enumeration with a `constexpr EnumNames<n> names_of(Enum)` beside it. `using podere::to_string;` there, too, lets
/// others convert its values without a thought of where they come from.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires {
  names_of(Enum()).values;
};

template <NamedEnum Enum>
std::string to_string(Enum value) {
  return names_of(value).values.at(static_cast<std::size_t>(value));
}

/// Throws InputError for a text that is none of the names.
template <NamedEnum Enum>
Enum parse_name(const std::string& text) {
  const auto names = names_of(Enum());
  for (std::size_t i = 0; i < names.values.size(); ++i) {
    if (text == names.values[i]) return static_cast<Enum>(i);
  }
  throw_input_error("{} is {}, allowed are {}", names.what, printable(text), fmt::join(names.values, ", "));
}

}  // namespace podere
