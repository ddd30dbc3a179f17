// One command at a time in the folder of a run.
#pragma once

#include <filesystem>
#include <optional>

#include "podere/base/file_lock.h"

namespace podere::classify {

/// Keeps other commands from the folder, as far as its file system has locks.
class FolderLock {
 public:
  /// Makes the folder if it is not there. Throws InputError where it cannot be made, and where another command has it.
  explicit FolderLock(std::filesystem::path folder);
  /// Leaves nothing behind if nothing was done.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Removes what the run keeps, and the folder. False if that is left, as something else is in it.
  bool remove_run();

 private:
  std::filesystem::path folder_;
  std::optional<FileLock> lock_;
};

}  // namespace podere::classify
