// Delimited text as a source.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader csv_reader();

}  // namespace podere::source
