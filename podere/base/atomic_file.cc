#include "podere/base/atomic_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/interrupt.h"
#include "podere/base/left_behind.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

/// Like open, but a pipe waits for its reader no longer than until an interrupt.
int open_for_writing(const fs::path& path) {
  while (true) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
    if (interrupts() > 0) throw Interrupted{};
  }
}

/// A full disk is for the user to fix, all else is the machine's failure.
[[noreturn]] void throw_write_error(const fs::path& path, int cause) {
  if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG) {
    throw_input_error("{}: cannot be written: {}", path.string(), std::strerror(cause));
  }
  throw_error("{}: cannot be written: {}", path.string(), std::strerror(cause));
}

/// `write_some` writes the first of `bytes` as write() does, and says how many.
template <typename WriteSome>
void write_all(const fs::path& path, std::string_view bytes, const WriteSome& write_some) {
  CountedFileCall call(CountedFileCall::Kind::kWrite);
  while (!bytes.empty()) {
    const ssize_t n = write_some(bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error(path, errno);
    call.add(static_cast<std::size_t>(n));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Where `path` leads by way of a process's folder of descriptors: "/proc/1234/fd/1" for /dev/stdout. Empty for others.
fs::path descriptor_link(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code none;
  for (int n_links = 0; n_links < kMostLinks; ++n_links) {
    const fs::path folder = fs::canonical(fs::absolute(path, none).parent_path(), none);
    if (none) break;
    if (folder.filename() == "fd" && folder.string().starts_with("/proc/")) return folder / path.filename();
    const fs::path target = fs::read_symlink(path, none);
    if (none) break;
    path = folder / target;
  }
  return {};
}

/// A copy of the descriptor that `link` names, if that is one which this process was given: what the program opened
/// itself is closed on exec. Where to write and whether to append belong to the descriptor, as the shell has set it up;
/// its file, opened anew, would be written from its first byte on. Of another process's descriptor only the file can be
/// had: it is appended to. -1, with errno, for none.
int open_descriptor(const fs::path& link) {
  std::error_code none;
  if (!link.string().starts_with(fs::canonical("/proc/self", none).string() + "/")) {
    return open(link.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  }
  const int given = fs::is_symlink(link, none) ? std::stoi(link.filename().string()) : -1;
  const bool is_given = given >= 0 && (fcntl(given, F_GETFD) & FD_CLOEXEC) == 0;
  if (is_given && (fcntl(given, F_GETFL) & O_ACCMODE) != O_RDONLY) return fcntl(given, F_DUPFD_CLOEXEC, 0);
  errno = EBADF;
  return -1;
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) throw_input_error("an output file needs a name");
  std::error_code unknown;  // what cannot be looked at cannot be written either: opening it says why
  const auto status = fs::status(path_, unknown);
  if (fs::is_directory(status)) throw_input_error("{}: is a directory, a file name is needed", path_.string());
  // A descriptor, a pipe or a device (such as /dev/full) cannot be renamed onto: it is written as it is.
  const fs::path link = descriptor_link(path_);
  if (!link.empty() || (fs::exists(status) && !fs::is_regular_file(status))) {
    descriptor_ = link.empty() ? open_for_writing(path_) : open_descriptor(link);
    if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    return;
  }
  // Writing through a link replaces what it points to, not the link.
  const auto target = fs::canonical(path_, unknown);
  if (!unknown) path_ = target;
  if (!fs::exists(status) && fs::is_symlink(path_, unknown)) {
    throw_input_error("{}: is a link to a place that is not there", path_.string());
  }
  remove_left_behind(path_.parent_path(), path_.filename().string() + kPartSuffix);
  make_temporary();
  fchmod(descriptor_, 0666 & ~current_umask());
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

void AtomicFile::make_temporary() {
  do {
    if (descriptor_ >= 0) close(descriptor_);
    std::string name = name_to_own(path_.string() + kPartSuffix);
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    temporary_ = name;
  } while (!own(descriptor_));
}

void AtomicFile::write(std::string_view bytes) {
  if (reader_has_left_) return;
  const int n_before = interrupts();
  write_all(path_, bytes, [&](std::string_view rest) {
    if (temporary_.empty() && interrupts() > n_before) throw Interrupted{};  // the reader may be asleep
    const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
    if (n < 0 && errno == EPIPE) {
      reader_has_left_ = true;
      return static_cast<ssize_t>(rest.size());
    }
    if (n >= 0 || errno != EAGAIN) return n;
    pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};  // the pipe is non-blocking
    return static_cast<ssize_t>(std::min(poll(&room, 1, -1), 0));
  });
}

void AtomicFile::commit() { close_and_rename(true); }
void AtomicFile::commit_unflushed() { close_and_rename(false); }

void AtomicFile::close_and_rename(bool flushes) {
  const bool is_temporary = !temporary_.empty();
  const auto flush = [this] {
    const CountedFileCall call(CountedFileCall::Kind::kWrite);
    return fsync(descriptor_) == 0;
  };
  const bool flushed = !is_temporary || !flushes || flush();
  int cause = errno;
  // Closing may report a failure (NFS); what has its place is owned until then.
  const int copy = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  const bool closed = copy >= 0 && close(copy) == 0;
  if (flushed && !closed) cause = errno;
  if (!flushed || !closed) throw_write_error(path_, cause);
  if (is_temporary && rename(temporary_.c_str(), path_.c_str()) != 0) throw_write_error(path_, errno);
  temporary_.clear();
  close(std::exchange(descriptor_, -1));
}

void write_into(const fs::path& path, std::size_t offset, std::string_view bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw_write_error(path, errno);
  const auto name = path.string().substr(0, path.string().rfind(kPartSuffix));
  try {
    write_all(name, bytes, [&](std::string_view rest) {
      const ssize_t n = pwrite(descriptor, rest.data(), rest.size(), static_cast<off_t>(offset));
      offset += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      return n;
    });
  } catch (...) {
    close(descriptor);
    throw;
  }
  if (close(descriptor) != 0) throw_write_error(name, errno);
}

}  // namespace podere
