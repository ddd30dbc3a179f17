#include "podere/classify/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "podere/base/error.h"
#include "podere/classify/run_folder.h"

namespace podere::classify {
namespace {

constexpr const char* kLock = ".lock";

/// Whether the lock was got, or could not be since there are none.
bool try_to_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : path_(folder / kLock) {
  make_run_folder(folder);
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  if (try_to_lock(descriptor_)) return;
  close(descriptor_);
  refuse(folder);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0 && result_bytes(path_.parent_path()) == 0) remove_run();
  if (descriptor_ >= 0) close(descriptor_);
}

bool FolderLock::is_held(const std::filesystem::path& folder) {
  const int descriptor = open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_held = !try_to_lock(descriptor);
  close(descriptor);
  return is_held;
}

void FolderLock::refuse(const std::filesystem::path& folder) {
  throw_input_error("{}: another command is at work in it", folder.string());
}

bool FolderLock::remove_run() {
  const std::filesystem::path folder = path_.parent_path();
  classify::remove_run(folder);
  close(std::exchange(descriptor_, -1));  // before it is removed, or a file server keeps it
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  std::filesystem::remove(folder, ignored);
  return !std::filesystem::exists(folder, ignored);
}

}  // namespace podere::classify
