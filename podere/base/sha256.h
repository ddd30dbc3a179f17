// SHA-256, by which files are known.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace podere {

/// 64 digits.
std::string sha256_of(std::string_view bytes);
/// Of a file's content. Throws InputError if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace podere
