// Structs as JSON objects, by one list of their fields that serves both directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/base/printable.h"

namespace podere {

/// A struct with `static void visit_fields(auto& self, auto&& visit)`, which calls visit("name", self.member) for each
/// of its fields. More arguments may follow there, for others than JSON.
template <typename T>
concept HasFields = requires(T& value) {
  std::remove_const_t<T>::visit_fields(value, [](const char*, auto&, auto...) {});
};

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};
template <typename T>
struct is_vector : std::false_type {};
template <typename T>
struct is_vector<std::vector<T>> : std::true_type {};

template <HasFields T>
Json json_of_fields(const T& value);

/// Enumerations by name, absent values as null, structs as json_of_fields.
template <typename T>
Json json_of(const T& value) {
  if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else if constexpr (NamedEnum<T>) {
    return to_string(value);
  } else if constexpr (is_optional<T>::value) {
    return value ? json_of(*value) : Json();
  } else if constexpr (HasFields<T>) {
    return json_of_fields(value);
  } else {
    return value;
  }
}

/// An object with all fields.
template <HasFields T>
Json json_of_all_fields(const T& value) {
  auto object = Json::object();
  T::visit_fields(value, [&](const char* name, const auto& member, auto...) { object[name] = json_of(member); });
  return object;
}

/// An object without the fields that have their defaults.
template <HasFields T>
Json json_of_fields(const T& value) {
  auto object = Json::object();
  std::vector<Json> defaults;
  const T unchanged{};
  T::visit_fields(unchanged, [&](const char*, const auto& member, auto...) { defaults.push_back(json_of(member)); });
  std::size_t i = 0;
  T::visit_fields(value, [&](const char* name, const auto& member, auto...) {
    auto json = json_of(member);
    // Not by !=, which takes NaN for everything.
    if (!(json == defaults[i++])) object[name] = std::move(json);
  });
  return object;
}

[[noreturn]] inline void refuse_json(const std::string& where, const char* allowed, const Json& json) {
  throw_input_error("{} must be {}, it is {}", where, allowed,
                    json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Sets `value` to what `json` says: nothing is rounded, cut or read as another type. Fields that are absent keep
/// what they have. Throws InputError for a value of the wrong type and for a field that there is not; `where` is the
/// path of the value, for messages.
template <typename T>
void read_json(const Json& json, const std::string& where, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) refuse_json(where, "a text", json);
    json.get_to(value);
  } else if constexpr (std::is_same_v<T, char>) {
    if (!json.is_string() || json.get_ref<const std::string&>().size() != 1) refuse_json(where, "one character", json);
    value = json.get_ref<const std::string&>()[0];
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) refuse_json(where, "true or false", json);
    json.get_to(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) refuse_json(where, "a number", json);
    json.get_to(value);
  } else if constexpr (std::is_integral_v<T>) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits && json.is_number_integer()) {
      throw_input_error("{} must be from {} to {}, it is {}", where, std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::max(), json.dump());
    }
    if (!fits) refuse_json(where, "a whole number", json);
    json.get_to(value);
  } else if constexpr (NamedEnum<T>) {
    std::string text;
    read_json(json, where, text);
    value = parse_name<T>(text);
  } else if constexpr (is_optional<T>::value) {
    if (json.is_null()) return value.reset();
    read_json(json, where, value.emplace());
  } else if constexpr (is_vector<T>::value) {
    if (!json.is_array()) refuse_json(where, "a list", json);
    value.resize(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) read_json(json[i], where, value[i]);
  } else if constexpr (std::is_same_v<T, Json>) {  // for others to read
    if (!json.is_object()) refuse_json(where, "an object", json);
    value = json;
  } else {
    static_assert(HasFields<T>);
    if (!json.is_object()) refuse_json(where, "an object", json);
    std::vector<std::string> known;
    T::visit_fields(value, [&](const char* name, auto& member, auto...) {
      known.emplace_back(name);
      if (const auto found = json.find(name); found != json.end()) read_json(*found, where + "." + name, member);
    });
    for (const auto& [name, ignored] : json.items()) {
      if (std::ranges::find(known, name) != known.end()) continue;
      throw_input_error("{}: {} is not known, there are {}", where, printable(name), fmt::join(known, ", "));
    }
  }
}

}  // namespace podere
