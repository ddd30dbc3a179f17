// Files that executors write.
#pragma once

#include <optional>
#include <string>

#include "podere/base/atomic_file.h"

namespace podere::cli {

/// An output that executors write side by side under path(): beside where it will be, or in a scratch file if it is a
/// pipe or a device, to which commit() then copies.
class SharedFile {
 public:
  /// Throws as AtomicFile.
  explicit SharedFile(const std::string& path);
  std::string path() const;
  /// Throws as AtomicFile::commit.
  void commit();

 private:
  AtomicFile output_;
  std::optional<AtomicFile> scratch_;
};

}  // namespace podere::cli
