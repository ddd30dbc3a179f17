// HDF5 files.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Whether there is an HDF5 file at a location, which may have bytes of a user before it.
bool is_hdf5(const std::string& location);

/// Opens the datasets of a group, as NamedArrays has them, one dataset, or a data frame of pandas: what `key` names;
/// empty: the only one, or the outermost group if that has datasets. The file is read by podere-hdf5, a program beside
/// this one. What is called as one of `left_out` does not count. Throws InputError for what is none, is not on a file
/// system, or has no array for a table.
std::unique_ptr<ColumnFile> open_hdf5(const std::string& location, const std::string& key,
                                      std::span<const std::string> left_out = {});

}  // namespace podere::columns
