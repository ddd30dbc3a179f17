// Folders with a file for each array, which executors write side by side.
#pragma once

#include <filesystem>

#include "podere/columns/write_arrays.h"

namespace podere::columns {

/// write_arrays() for kNpy: NAME.npy, as numpy.save writes it.
void write_npy_files(const std::filesystem::path& folder, const WrittenArrays& written, const comm::Communicator& comm);

/// write_arrays() for kCsv: NAME.csv, a line of names and a line for each index of the first dimension. Numbers are the
/// shortest decimals that read back as the same float64.
void write_csv_files(const std::filesystem::path& folder, const WrittenArrays& written, const comm::Communicator& comm,
                     int n_threads);

}  // namespace podere::columns
