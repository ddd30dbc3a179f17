// Schemas in files.
#pragma once

#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/table/table.h"

namespace podere::table {

Json to_json(const Schema& schema);
/// Inverse of to_json. Throws InputError or a JSON exception for what is no schema.
Schema schema_from_json(const Json& json);

/// Features are found by their names, which go into JSON. Throws InputError for features without names, with the same
/// name or with one that is not UTF-8.
void check_names(const std::vector<std::string>& names);

}  // namespace podere::table
