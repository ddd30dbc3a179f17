// JSON values, whose members keep their order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace podere {

using Json = nlohmann::ordered_json;
/// For files of others, whose objects may have any number of members: these are found in logarithmic time.
using SortedJson = nlohmann::json;

/// On one line. Bytes that are not UTF-8, of which file names may have any, are replaced.
std::string to_text(const Json& json);

/// A number; NaN for null, as which JSON has what is not finite.
double real(const Json& json);

}  // namespace podere
