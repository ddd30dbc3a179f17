// Which format a file of rows has.
#pragma once

#include <filesystem>
#include <string>

namespace podere::io {

enum class FileFormat { kAuto, kCsv, kIdx, kLibsvm };

/// "auto", "csv", "idx", "libsvm".
std::string to_string(FileFormat format);
/// Inverse of to_string. Throws InputError.
FileFormat parse_file_format(const std::string& text);

/// IDX for a file that begins with two bytes 0, as no text does; libsvm for one called .libsvm, .svm or .svmlight, with
/// or without .gz behind; CSV for all others. Throws InputError if the file cannot be read. Local.
FileFormat find_format(const std::filesystem::path& path);

}  // namespace podere::io
