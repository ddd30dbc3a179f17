#include "podere/base/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "podere/base/error.h"
#include "podere/base/number.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "podere-";

/// Whether `name` is that of a folder whose process is no longer there.
bool is_left_behind(const std::string& name) {
  if (!name.starts_with(kPrefix)) return false;
  const auto end = name.find('-', kPrefix.size());
  if (end == std::string::npos || name.size() != end + 1 + std::strlen("XXXXXX")) return false;
  const auto pid = parse_count(std::string_view(name).substr(kPrefix.size(), end - kPrefix.size()));
  return pid && std::in_range<pid_t>(*pid) && *pid > 0 && kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
}

bool is_mine(const fs::path& path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

void take_away_what_was_left(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (is_left_behind(entry.path().filename()) && is_mine(entry.path())) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& parent, Of of) {
  if (of == Of::kMachine) take_away_what_was_left(parent);
  const std::string owner = of == Of::kMachine ? std::to_string(getpid()) : "shared";
  std::string name = (parent / (std::string(kPrefix) + owner + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw_input_error("temporary folder {}: {}", parent.string(), std::strerror(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace podere
