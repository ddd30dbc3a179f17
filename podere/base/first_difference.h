// In which of their options two runs differ, in words.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "podere/base/printable.h"

namespace podere {

template <typename T>
std::string value_in_words(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else {
    return fmt::format("{}", value);
  }
}

inline std::string value_in_words(const std::string& value) { return value.empty() ? "none" : printable(value); }

template <typename T>
std::string value_in_words(const std::vector<T>& values) {
  return values.empty() ? "none" : fmt::format("{}", fmt::join(values, ","));
}

template <typename T>
std::string value_in_words(const std::optional<T>& value) {
  return value ? value_in_words(*value) : "none";
}

/// "depth was 6, is 8"; empty if they are alike.
template <typename T>
std::string difference_in_words(const std::string& name, const T& was, const T& is) {
  return was == is ? "" : fmt::format("{} was {}, is {}", name, value_in_words(was), value_in_words(is));
}

/// difference_in_words of the first option, of those that Options::visit_fields visits, in which they differ;
/// name_of(name) is what users call it.
template <typename Options, typename NameOf>
std::string first_difference_of(const Options& was, const Options& is, const NameOf& name_of) {
  std::string difference;
  Options::visit_fields(was, [&](const std::string& name, const auto& before) {
    Options::visit_fields(is, [&](const std::string& same_name, const auto& now) {
      if constexpr (std::is_same_v<decltype(before), decltype(now)>) {
        if (difference.empty() && name == same_name) difference = difference_in_words(name_of(name), before, now);
      }
    });
  });
  return difference;
}

}  // namespace podere
