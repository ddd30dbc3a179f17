#include "podere/base/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "podere/base/error.h"
#include "podere/base/left_behind.h"

namespace podere {
namespace {

constexpr const char* kFolderPrefix = "podere-";

}  // namespace

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  remove_left_behind(parent);
  do {
    if (descriptor_ >= 0) close(descriptor_);
    std::string name = parent / name_to_own(kFolderPrefix);
    if (mkdtemp(name.data()) == nullptr) {
      throw_input_error("temporary folder {}: {}", parent.string(), std::strerror(errno));
    }
    path_ = name;
    descriptor_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Until it is owned, another process that looks for what was left behind may remove it.
    if (descriptor_ < 0 && errno != ENOENT) {
      throw_input_error("temporary folder {}: {}", name, std::strerror(errno));
    }
  } while (descriptor_ < 0 || !own(descriptor_));
}

void TemporaryFolder::remove_left_behind(const std::filesystem::path& parent) {
  podere::remove_left_behind(parent, kFolderPrefix);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace podere
