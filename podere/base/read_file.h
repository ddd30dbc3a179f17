// Whole files as text.
#pragma once

#include <filesystem>
#include <string>

namespace podere {

/// The bytes of a file. Throws InputError where it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace podere
