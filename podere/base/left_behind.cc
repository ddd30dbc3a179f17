#include "podere/base/left_behind.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "podere/base/hash.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRandomPart = "-XXXXXX";

std::string host_mark() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  std::uint64_t hash = 0;
  for (const char c : std::string_view(name.data())) hash = mix64(hash + kGoldenGamma + static_cast<unsigned char>(c));
  return fmt::format("{:06x}", hash & 0xffffff);
}

/// Whether this user's file or folder was left by its owner. Holds its lock until the end of `remove`.
template <typename Remove>
void if_left(const fs::path& path, const Remove& remove) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat found = {};
  const bool is_mine =
      fstat(descriptor, &found) == 0 && found.st_uid == geteuid() && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
  if (is_mine && flock(descriptor, LOCK_EX | LOCK_NB) == 0) remove();
  close(descriptor);
}

}  // namespace

std::string name_to_own(const std::string& prefix) { return prefix + host_mark() + std::string(kRandomPart); }

mode_t current_umask() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

bool own(int descriptor) {
  // On a file system without locks nothing can be locked, so what is left stays.
  while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat found = {};
  return fstat(descriptor, &found) == 0 && found.st_nlink > 0;
}

void remove_left_behind(const fs::path& folder, const std::string& prefix) {
  const std::string begin = prefix + host_mark() + "-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin) || name.size() != begin.size() + kRandomPart.size() - 1) continue;
    if_left(entry.path(), [&] { fs::remove_all(entry.path(), ignored); });
  }
}

}  // namespace podere
