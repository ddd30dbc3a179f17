// Delimited text as a source.
#pragma once

#include "podere/io/csv.h"
#include "podere/source/reader.h"

namespace podere::source {

/// What is chosen of a source of named fields.
io::CsvOptions csv_options(const Reading& reading);

Reader csv_reader();

}  // namespace podere::source
