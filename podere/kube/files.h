// Small files of outside.
#pragma once

#include <filesystem>
#include <string>

namespace podere::kube {

/// The content of a text file such as a certificate. Throws InputError that names the file and the cause; more than
/// 4 MiB is refused.
std::string read_small_file(const std::filesystem::path& path);

/// `text` without white space at both ends.
std::string trimmed(const std::string& text);

}  // namespace podere::kube
