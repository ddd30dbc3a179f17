// Which format a file of rows has.
#pragma once

#include <filesystem>

#include "podere/base/enum_names.h"

namespace podere::io {

enum class FileFormat { kAuto, kCsv, kIdx, kLibsvm };

constexpr EnumNames<4> names_of(FileFormat /*enumeration*/) { return {"format", {"auto", "csv", "idx", "libsvm"}}; }
using podere::to_string;

/// IDX for a file that begins with two bytes 0, as no text does; libsvm for one called .libsvm, .svm or .svmlight, with
/// or without .gz behind; CSV for all others. Throws InputError if the file cannot be read. Local.
FileFormat find_format(const std::filesystem::path& path);

}  // namespace podere::io
