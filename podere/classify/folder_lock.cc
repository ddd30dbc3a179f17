#include "podere/classify/folder_lock.h"

#include <system_error>
#include <utility>

#include "podere/classify/run_folder.h"

namespace podere::classify {

FolderLock::FolderLock(std::filesystem::path folder) : folder_(std::move(folder)) {
  make_run_folder(folder_);
  lock_.emplace(folder_);
  make_run_folder(folder_);  // which who had the lock before may have removed
}

FolderLock::~FolderLock() {
  if (lock_ && result_bytes(folder_) == 0) remove_run();
}

bool FolderLock::remove_run() {
  classify::remove_run(folder_);
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);
  lock_.reset();
  return !std::filesystem::exists(folder_, ignored);
}

}  // namespace podere::classify
