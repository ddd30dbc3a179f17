// One process at a time at work on a file.
#pragma once

#include <filesystem>

namespace podere {

/// Keeps other processes from `path`, a file or a folder, as far as its file system has locks. The lock is a file
/// beside it, since `path` itself is another file whenever it is written anew; it goes with this object. One that a
/// killed process left behind locks nothing.
class FileLock {
 public:
  /// Throws InputError if another process has it, or the lock cannot be made there.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Throws InputError if another process has it.
  static void check_free(const std::filesystem::path& path);

 private:
  std::filesystem::path lock_;
  int descriptor_ = -1;
};

}  // namespace podere
