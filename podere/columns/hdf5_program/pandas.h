// Data frames that pandas wrote.
#pragma once

#include <string>

#include "podere/columns/hdf5_program/array.h"

namespace podere::columns::hdf5 {

/// The data frame in a group, in pandas' `fixed` or `table` format: its columns in their order, and its index. Throws
/// Refusal for what is none, and for texts in the `fixed` format, which are pickled.
/// Source: pandas/io/pytables.py of pandas 2.3, which has no other description.
Array read_frame(hid_t file, const std::string& path);

}  // namespace podere::columns::hdf5
