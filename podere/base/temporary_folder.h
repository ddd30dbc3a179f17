// A folder that lives as long as a process needs it.
#pragma once

#include <filesystem>

namespace podere {

/// A new folder `parent`/podere-PID-XXXXXX that only this user can enter. It goes with all that is in it when this
/// object does. A process that is killed leaves its folder behind: whoever makes the next one takes it away.
class TemporaryFolder {
 public:
  enum class Of {
    kMachine,
    kCluster,  ///< `parent` is on several machines: named podere-shared-XXXXXX, and nobody else takes it away
  };
  /// Throws InputError that names `parent` and the cause if it cannot be made.
  explicit TemporaryFolder(const std::filesystem::path& parent, Of of = Of::kMachine);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace podere
