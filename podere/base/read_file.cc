#include "podere/base/read_file.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "podere/base/cannot_read.h"
#include "podere/base/error.h"

namespace podere {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  const bool has_bytes = file && file.peek() != std::ifstream::traits_type::eof();  // of a folder it fails
  if (has_bytes) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.fail()) throw_cannot_read(path);
  return std::move(text).str();
}

}  // namespace podere
