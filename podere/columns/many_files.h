// Several files of the same columns as one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

using OpenFile = std::function<std::unique_ptr<ColumnFile>(const std::string& location)>;

/// The rows of all files that `location` means, as of io::list_files, one file after another, and behind their columns
/// those of the names of folders. Columns are found by name. One file is itself. Throws InputError as `open`, and for
/// files with other columns than the first, or of other kinds.
std::unique_ptr<ColumnFile> open_all(const std::string& location, const OpenFile& open);

}  // namespace podere::columns
