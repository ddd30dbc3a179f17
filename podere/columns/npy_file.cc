#include "podere/columns/npy_file.h"

#include <utility>

#include "podere/columns/npy_array.h"

namespace podere::columns {

std::unique_ptr<ColumnFile> open_npy(const std::string& location) {
  io::SourceVersion version = io::version_of(location);
  return std::make_unique<NpyArray>(location, location, std::move(version), io::open_bytes(location));
}

}  // namespace podere::columns
