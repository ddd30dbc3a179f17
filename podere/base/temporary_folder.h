// A folder that lives as long as a process needs it.
#pragma once

#include <filesystem>

namespace podere {

/// A new folder `parent`/podere-HOST-XXXXXX that only this user can enter. It goes with all that is in it when this
/// object does. A process that is killed leaves its folder behind: the next process that makes one on this host removes
/// it.
class TemporaryFolder {
 public:
  /// Throws InputError that names `parent` and the cause if it cannot be made.
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Removes what killed processes left in `parent`.
  static void remove_left_behind(const std::filesystem::path& parent);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // by which it is owned
};

}  // namespace podere
