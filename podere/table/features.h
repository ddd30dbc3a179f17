// Finding the features of one table in another.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

/// "pixel1" for pixel 0 and so on, as the features of pictures are called.
std::string pixel_name(std::size_t pixel);

/// Whether all names are f0, f1, ...: those given to the columns of a source that has no names.
bool is_made_up(const std::vector<std::string>& names);

/// Whether the features `wanted` are those called `names` in order: where the names of just one side are made up, or
/// those of both and `wanted` knows of no label. Such names are of another program's model, which counted features
/// alone; Podere counts columns, the label among them.
bool are_matched_by_order(const Schema& wanted, const std::vector<std::string>& names);

/// Where the features `wanted` are among `names`, if they do [wanted.features.size()]. Where they are matched by order,
/// nothing is found if they are not equally many.
std::vector<std::optional<std::size_t>> find_features(const Schema& wanted, const std::vector<std::string>& names);

/// Throws InputError where both are pixels of pictures that came to their size in different ways, as far as they say
/// it: pixels have the same names then, and mean others.
void check_same_pictures(const Schema& wanted, const Schema& schema);

/// Where the features `wanted` are in `schema`, by find_features [wanted.features.size()].
/// Throws InputError that names the features which are not there, as check_same_pictures, and where both are pixels of
/// whole pictures, but not as many.
std::vector<std::size_t> match_features(const Schema& wanted, const Schema& schema);

/// The columns of `table` that match_features finds for those of `wanted`. Throws InputError too where one of them has
/// other categories.
std::vector<std::span<const float>> feature_columns(const Schema& wanted, const Table& table);

}  // namespace podere::table
