// Values of JSON files, taken only where they are what they should be.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/base/error.h"

namespace podere {

// Each sets `value`, which `json` must have the type of: nothing is rounded, cut or taken for another type. Throws
// InputError that names `name`.

template <typename T>
requires std::is_arithmetic_v<T>
void read_value(const nlohmann::ordered_json& json, const char* name, T& value) {
  const bool fits = [&] {
    if constexpr (std::is_same_v<T, bool>) {
      return json.is_boolean();
    } else if constexpr (std::is_floating_point_v<T>) {
      return json.is_number();
    } else if (json.is_number_unsigned()) {
      return std::in_range<T>(json.get<std::uint64_t>());
    } else {
      return json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    }
  }();
  if (!fits) throw_input_error("'{}' is {}, which is not a number of its kind", name, json.dump());
  json.get_to(value);
}

inline void read_value(const nlohmann::ordered_json& json, const char* name, std::string& value) {
  if (!json.is_string()) throw_input_error("'{}' is {}, which is not a text", name, json.dump());
  json.get_to(value);
}

template <typename T>
void read_value(const nlohmann::ordered_json& json, const char* name, std::vector<T>& value) {
  if (!json.is_array()) throw_input_error("'{}' is {}, which is not a list", name, json.dump());
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read_value(json[i], name, value[i]);
}

/// null: none.
template <typename T>
void read_value(const nlohmann::ordered_json& json, const char* name, std::optional<T>& value) {
  if (!json.is_null()) read_value(json, name, value.emplace());
}

}  // namespace podere
