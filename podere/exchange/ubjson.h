// Universal Binary JSON, in which XGBoost saves models since 2.1: https://ubjson.org
#pragma once

#include <string>
#include <string_view>

#include "podere/base/json.h"

namespace podere::exchange {

/// Whether `text` begins as XGBoost's binary objects do. No JSON does.
inline bool is_ubjson(std::string_view text) { return text.starts_with("{L"); }

/// The value in `text`. Throws InputError for text that is not one whole value, is nested deeper than Podere's JSON, or
/// has more values than bytes, as an array of nothing but a length could.
SortedJson from_ubjson(const std::string& text);

/// `json` as XGBoost reads it: lengths have 64 bits, reals 32.
std::string to_ubjson(const Json& json);

}  // namespace podere::exchange
