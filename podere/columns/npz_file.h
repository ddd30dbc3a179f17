// Archives of NumPy.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Whether there is a ZIP archive with arrays of NumPy at a location. Throws InputError if it cannot be read.
bool is_npz(const std::string& location);

/// Opens what numpy.savez or savez_compressed wrote. Arrays of equally many rows are side by side: one of one dimension
/// is a column of its name, y; one with fields has the names of these; another has columns X0, X1, ... But if only one
/// has more dimensions, its columns have names as NpyArray has them if they are more than two, or if it is called X,
/// data, features, arr_0, X_train or X_test, X in either case; and if there is an array of texts that is called
/// columns, feature_names or names, as many as a matrix has columns, the names are those. What cannot be beside the
/// others is a column of Kind::kOther, by its name, and so is each array of `left_out`, which does not count else.
/// Throws InputError for what is none, or has no array for a table.
std::unique_ptr<ColumnFile> open_npz(const std::string& location, std::span<const std::string> left_out = {});

}  // namespace podere::columns
