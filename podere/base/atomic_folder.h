// Folders of files that are there whole or not at all.
#pragma once

#include <filesystem>

namespace podere {

/// A folder that others fill under a temporary name beside `path`; commit() makes it `path`. Without commit nothing is
/// left; what a process that was killed left of a folder `path` is removed.
class AtomicFolder {
 public:
  /// Throws InputError if the folder around it is missing or cannot be written, and if `path` is there and is no empty
  /// folder: what is in it is never lost.
  explicit AtomicFolder(const std::filesystem::path& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& temporary_path() const { return temporary_; }
  /// Flushes its files to the disk, then renames. Throws Error that names the folder and the cause. Call once.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty once it is committed
  int descriptor_ = -1;              // by which it is owned
};

}  // namespace podere
