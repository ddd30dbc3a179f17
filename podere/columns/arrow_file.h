// Arrow files.
#pragma once

#include <memory>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Opens an Arrow IPC file, which Feather V2 is too, or an IPC stream, and reads what it says of its columns and record
/// batches: the groups. Throws InputError for what is none, is packed as a whole, big-endian or damaged.
/// Source: Apache Arrow columnar format 1.4, "Serialization and Interprocess Communication".
std::unique_ptr<ColumnFile> open_arrow(const std::string& location);

}  // namespace podere::columns
