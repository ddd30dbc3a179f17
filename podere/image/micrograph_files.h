// Simulated micrographs as a folder of files.
#pragma once

#include <cstdint>
#include <filesystem>

#include "podere/base/progress.h"

namespace podere::image {

/// Writes pictures [0, n) of `seed` into a new folder: each as KIND/NUMBER.tif, and LABELS.csv with a line for each.
/// The folder is there whole or not at all. Local. Memory does not grow with n. Throws InputError if the folder is
/// there and not empty, or cannot be made; Error if writing fails or `progress` asks to stop: nothing is left then.
void write_micrographs(const std::filesystem::path& folder, std::uint64_t seed, std::uint64_t n, int n_threads,
                       Progress& progress);

}  // namespace podere::image
