// HDF5 files that executors write side by side.
#pragma once

#include <filesystem>

#include "podere/columns/write_arrays.h"

namespace podere::columns {

/// write_arrays() for kHdf5. Rank 0 has podere-hdf5 make the file, with room for all values; then each rank writes its
/// own by their place in the file. Throws Error, on all ranks, where podere-hdf5 is missing.
void write_hdf5(const std::filesystem::path& path, const WrittenArrays& written, const comm::Communicator& comm);

}  // namespace podere::columns
