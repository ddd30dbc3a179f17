// Schemas in files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

nlohmann::ordered_json to_json(const Schema& schema);
/// Inverse of to_json. Throws InputError or a JSON exception for what is no schema.
Schema schema_from_json(const nlohmann::ordered_json& json);

/// Features are found by their names, which go into JSON. Throws InputError for features without names, with the same
/// name or with one that is not UTF-8.
void check_names(const std::vector<std::string>& names);

}  // namespace podere::table
