// Labels that mean classes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::table {

/// The different labels of the whole table, rising; nothing if there are more than `most`, NaN among them, or no label
/// column. Collective; the same on every rank. Three collectives, of at most `most` values from each rank.
std::optional<std::vector<float>> label_values(const Table& table, std::size_t most, const comm::Communicator& comm);

/// Puts the place of each label held here among `classes`, which are different, in place of the label, and their texts
/// into the schema, unless they are 0, 1, 2, ... Local. Throws InputError with the first row whose label is none of
/// them; labels are as they were then.
void number_labels(Table& table, const std::vector<float>& classes, int n_threads);

/// The texts of classes that are numbers, see number_text.
std::vector<std::string> class_texts(const std::vector<float>& classes);

/// The numbers whose texts they are; nothing if one is the text of none.
std::optional<std::vector<float>> class_numbers(const std::vector<std::string>& texts);

/// Whether each class is its own place: 0, 1, 2, ...
bool are_places(const std::vector<float>& classes);

}  // namespace podere::table
