#include "podere/io/file_format.h"

#include <array>
#include <string>

#include "podere/io/byte_source.h"

namespace podere::io {

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
