// Noticing that a file is another than it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace podere::io {

/// What tells one state of a file from another: its size and the time of its last change. A file that is not there is
/// a state too.
struct FileVersion {
  explicit FileVersion(const std::filesystem::path& path)
      : size(std::filesystem::file_size(path, error)), time(std::filesystem::last_write_time(path, error)) {}
  bool operator==(const FileVersion& other) const { return size == other.size && time == other.time; }

  std::error_code error;
  std::uintmax_t size;
  std::filesystem::file_time_type time;
};

}  // namespace podere::io
