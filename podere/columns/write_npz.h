// Archives of NumPy that executors write side by side.
#pragma once

#include <filesystem>

#include "podere/columns/write_arrays.h"

namespace podere::columns {

/// write_arrays() for kNpz: `arrays` come first, then `rows`.
void write_npz(const std::filesystem::path& path, const WrittenArrays& written, const comm::Communicator& comm);

}  // namespace podere::columns
