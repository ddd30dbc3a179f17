// Parquet files.
#pragma once

#include <memory>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Opens a Parquet file and reads its footer. Throws InputError for what is none, is encrypted or damaged.
/// Source: Apache Parquet format 2.10.0.
std::unique_ptr<ColumnFile> open_parquet(const std::string& location);

}  // namespace podere::columns
