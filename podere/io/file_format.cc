#include "podere/io/file_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/byte_source.h"

namespace podere::io {
namespace {

constexpr std::array<std::pair<FileFormat, const char*>, 4> kNames = {{{FileFormat::kAuto, "auto"},
                                                                       {FileFormat::kCsv, "csv"},
                                                                       {FileFormat::kIdx, "idx"},
                                                                       {FileFormat::kLibsvm, "libsvm"}}};

}  // namespace

std::string to_string(FileFormat format) {
  return std::ranges::find(kNames, format, &std::pair<FileFormat, const char*>::first)->second;
}

FileFormat parse_file_format(const std::string& text) {
  for (const auto& [format, name] : kNames) {
    if (text == name) return format;
  }
  throw_input_error("the format is {}, allowed are auto, csv, idx and libsvm", text);
}

FileFormat find_format(const std::filesystem::path& path) {
  std::array<char, 2> begin = {'?', '?'};
  open_bytes(path)->cursor_at(0)->read(begin);
  if (begin == std::array{'\0', '\0'}) return FileFormat::kIdx;
  const std::filesystem::path unpacked = path.extension() == ".gz" ? path.stem() : path;
  const std::string extension = unpacked.extension().string();
  const bool is_libsvm = extension == ".libsvm" || extension == ".svm" || extension == ".svmlight";
  return is_libsvm ? FileFormat::kLibsvm : FileFormat::kCsv;
}

}  // namespace podere::io
