// Tables of some of another table's features.
#pragma once

#include <string>
#include <vector>

#include "podere/table/table.h"

namespace podere::table {

/// The rows of `table` with the features of these names, in this order. Categories stay what they are, and label and
/// weight stay with the rows. Local. Throws InputError, with the column, for one that is no feature or is asked for
/// twice, and if none is asked for.
Table select_columns(const Table& table, const std::vector<std::string>& features, int n_threads);

}  // namespace podere::table
