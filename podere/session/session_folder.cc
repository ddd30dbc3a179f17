#include "podere/session/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "podere/base/error.h"

namespace podere::session {
namespace {

constexpr std::size_t kMostSessionNameBytes = 40;
constexpr const char* kLock = ".lock";
constexpr int kAttempts = 5;
constexpr auto kBetweenLocks = std::chrono::milliseconds(20);

std::filesystem::path parent_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return std::filesystem::path(runtime) / "podere";
  return std::filesystem::temp_directory_path() / fmt::format("podere-sessions-{}", geteuid());
}

void make_own(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return;
  struct stat status = {};
  const bool is_there = errno == EEXIST && lstat(folder.c_str(), &status) == 0;
  if (!is_there) throw_input_error("{}: {}", folder.string(), std::strerror(errno));
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw_input_error("{}: is not a folder that only this user can enter", folder.string());
  }
}

void check_session_name(const std::string& name) {
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && name[0] != '.' && name.size() <= kMostSessionNameBytes && std::ranges::all_of(name, is_allowed))
    return;
  throw_input_error("a session cannot be called '{}': allowed are up to {} letters, digits, dots, _ and -",
                    name.substr(0, kMostSessionNameBytes), kMostSessionNameBytes);
}

/// Holds the lock of a place, if no other process does; -1 otherwise, and for a file that is not there unless it is to
/// be made.
int try_lock(const std::filesystem::path& path, int make) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | make, S_IRUSR | S_IWUSR);
    if (descriptor < 0 && make == 0 && errno == ENOENT) return -1;
    if (descriptor < 0) throw_input_error("{}: {}", path.string(), std::strerror(errno));
    const bool is_locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    struct stat of_name = {};
    struct stat of_lock = {};
    fstat(descriptor, &of_lock);
    // The process that had it may have removed the file meanwhile.
    if (is_locked && stat(path.c_str(), &of_name) == 0 && of_name.st_ino == of_lock.st_ino) return descriptor;
    close(descriptor);
    if (!is_locked) return -1;
  }
}

}  // namespace

SessionPlace::SessionPlace(const std::string& name) : name_(name), folder_(parent_folder()) {
  check_session_name(name);
  make_own(folder_);
}

SessionPlace::~SessionPlace() {
  if (lock_ < 0) return;
  std::error_code ignored;
  std::filesystem::remove(log(), ignored);
  std::filesystem::remove(folder_ / (name_ + kLock), ignored);
  close(lock_);
}

void SessionPlace::take() {
  // A process that looks whether the place is in use locks it for a moment.
  for (int attempt = 0; lock_ < 0 && attempt < kAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kBetweenLocks);
    lock_ = try_lock(folder_ / (name_ + kLock), O_CREAT);
  }
  if (lock_ < 0)
    throw_input_error("there is a session called {} already: stop it first, or choose another name", name_);
  if (ftruncate(lock_, 0) != 0 || dprintf(lock_, "%d\n", getpid()) < 0) {
    throw_error("{}: {}", (folder_ / (name_ + kLock)).string(), std::strerror(errno));
  }
}

bool SessionPlace::is_taken_by_another() const {
  const auto path = folder_ / (name_ + kLock);
  const int lock = try_lock(path, 0);
  if (lock >= 0) close(lock);
  return lock < 0 && std::filesystem::exists(path);
}

void SessionPlace::remove_left_behind() const {
  const auto path = folder_ / (name_ + kLock);
  const int lock = try_lock(path, 0);
  if (lock < 0 && std::filesystem::exists(path)) return;
  std::error_code ignored;
  std::filesystem::remove(log(), ignored);
  if (lock < 0) return;
  std::filesystem::remove(path, ignored);
  close(lock);
}

pid_t SessionPlace::holder() const {
  const auto lock = folder_ / (name_ + kLock);
  pid_t process = 0;
  std::ifstream(lock) >> process;
  // The number of a driver that was killed may be another process's by now.
  std::error_code gone;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator open_file(fmt::format("/proc/{}/fd", process), gone);
       !gone && open_file != end; open_file.increment(gone)) {
    std::error_code is_no_file;
    if (std::filesystem::equivalent(open_file->path(), lock, is_no_file)) return process;
  }
  return 0;
}

std::filesystem::path SessionPlace::socket() const { return folder_ / (name_ + ".socket"); }
std::filesystem::path SessionPlace::log() const { return folder_ / (name_ + ".log"); }

std::vector<std::string> sessions() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent_folder(), error)) {
    if (entry.path().extension() != kLock) continue;
    const std::string name = entry.path().stem().string();
    if (SessionPlace(name).is_taken_by_another()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace podere::session
