// Archives of NumPy.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Whether there is a ZIP archive with arrays of NumPy at a location. Throws InputError if it cannot be read.
bool is_npz(const std::string& location);

/// Opens what numpy.savez or savez_compressed wrote, as NamedArrays has it; or, if `key` is not empty, the array of
/// that name alone. An array of `left_out` does not count. Throws InputError for what is none, or has no array for a
/// table.
std::unique_ptr<ColumnFile> open_npz(const std::string& location, const std::string& key = {},
                                     std::span<const std::string> left_out = {});

}  // namespace podere::columns
