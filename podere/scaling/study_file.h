// The file of a study: it grows with each run, so that a study that was ended continues.
#pragma once

#include <filesystem>

#include "podere/base/file_lock.h"
#include "podere/scaling/study.h"

namespace podere::scaling {

/// Held by one process at a time, as two would each lose what the other measured.
class StudyFile {
 public:
  /// Throws InputError for what is there and no file, or is another study's at work.
  explicit StudyFile(std::filesystem::path path);

  /// Gives `study` the runs that the file has, if there is one. Throws InputError if these are of another command or
  /// machine, or it is no file of a study.
  void read_into(Study& study) const;
  /// Throws InputError if it cannot be written. What it had stays then.
  void write(const Json& study) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileLock lock_;
};

}  // namespace podere::scaling
