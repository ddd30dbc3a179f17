// Why a file cannot be read.
#pragma once

#include <filesystem>

namespace podere {

/// Throws InputError: the file's name, and why it cannot be opened or read, as the system says it.
[[noreturn]] void throw_cannot_read(const std::filesystem::path& path);

}  // namespace podere
