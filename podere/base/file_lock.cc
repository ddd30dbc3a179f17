#include "podere/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "podere/base/error.h"

namespace podere {
namespace {

std::filesystem::path lock_of(const std::filesystem::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".lock");
}

/// Whether `path` still leads to what `descriptor` has open: who had the lock before removes the file.
bool leads_to(const std::filesystem::path& path, int descriptor) {
  struct stat of_name = {};
  struct stat of_lock = {};
  return fstat(descriptor, &of_lock) == 0 && stat(path.c_str(), &of_name) == 0 && of_name.st_ino == of_lock.st_ino &&
         of_name.st_dev == of_lock.st_dev;
}

/// False only if another process has the lock: where there are none, it is as if this one had it.
bool try_to_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw_input_error("{}: another command is at work on it", path.string());
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path) : lock_(lock_of(path)) {
  while (true) {
    descriptor_ = open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0 && errno == ENOENT) {
      throw_input_error("{}: there is no folder {}", path.string(), path.parent_path().string());
    }
    if (descriptor_ < 0)
      throw_input_error("{}: its lock {} cannot be had: {}", path.string(), lock_.string(), std::strerror(errno));
    if (!try_to_lock(descriptor_)) {
      close(descriptor_);
      refuse(path);
    }
    if (leads_to(lock_, descriptor_)) return;
    close(descriptor_);
  }
}

void FileLock::check_free(const std::filesystem::path& path) {
  const int descriptor = open(lock_of(path).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;
  const bool is_free = try_to_lock(descriptor);
  close(descriptor);
  if (!is_free) refuse(path);
}

FileLock::~FileLock() {
  unlink(lock_.c_str());  // while it is locked: no other process has it
  close(descriptor_);
}

}  // namespace podere
