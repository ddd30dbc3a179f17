// Files of NumPy.
#pragma once

#include <memory>
#include <string>

#include "podere/columns/column_file.h"

namespace podere::columns {

/// Opens what numpy.save wrote, plain or packed. Throws InputError as NpyArray.
std::unique_ptr<ColumnFile> open_npy(const std::string& location);

}  // namespace podere::columns
