#include "podere/base/atomic_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "podere/base/error.h"
#include "podere/base/left_behind.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

/// Without a slash at its end, and behind links.
fs::path place_of_folder(const fs::path& path) {
  const fs::path named = path.has_filename() ? path : path.parent_path();
  std::error_code is_new;
  const fs::path there = fs::canonical(named, is_new);
  return is_new ? named : there;
}

bool flush(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_flushed = descriptor >= 0 && fsync(descriptor) == 0;
  const int cause = errno;
  if (descriptor >= 0) close(descriptor);
  errno = cause;
  return is_flushed;
}

}  // namespace

AtomicFolder::AtomicFolder(const fs::path& path) : path_(place_of_folder(path)) {
  std::error_code unknown;  // what cannot be looked at cannot be made either, which says why
  if (fs::is_symlink(path_, unknown)) {
    throw_input_error("{}: is a link to a place that is not there", path_.string());
  }
  if (fs::exists(path_, unknown) && !fs::is_directory(path_, unknown)) {
    throw_input_error("{}: is a file, and a folder is to be made there: name another", path_.string());
  }
  if (fs::is_directory(path_, unknown) && !fs::is_empty(path_, unknown)) {
    throw_input_error("{}: is a folder with something in it, which would be lost: remove it, or name another",
                      path_.string());
  }
  const std::string prefix = path_.string() + kPartSuffix;
  remove_left_behind(path_.parent_path(), fs::path(prefix).filename());
  do {
    if (descriptor_ >= 0) close(descriptor_);
    std::string name = name_to_own(prefix);
    if (mkdtemp(name.data()) == nullptr) {
      throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    }
    temporary_ = name;
    descriptor_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } while (descriptor_ < 0 || !own(descriptor_));
  fchmod(descriptor_, 0777 & ~current_umask());
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  close(descriptor_);
}

void AtomicFolder::commit() {
  bool is_done = true;
  for (const auto& file : fs::directory_iterator(temporary_)) is_done = is_done && flush(file.path());
  is_done = is_done && fsync(descriptor_) == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (!is_done) throw_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  temporary_.clear();
}

}  // namespace podere
