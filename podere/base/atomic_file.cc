#include "podere/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "podere/base/error.h"

namespace podere {
namespace {

constexpr const char* kTemporarySuffix = ".part-";

mode_t current_umask() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

/// No room left is for the user to mend, all else is the machine's failure.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int cause) {
  if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG) {
    throw_input_error("{}: cannot be written: {}", path.string(), std::strerror(cause));
  }
  throw_error("{}: cannot be written: {}", path.string(), std::strerror(cause));
}

void write_all_at(int descriptor, const std::filesystem::path& path, std::size_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::size_t>(n);
  }
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) throw_input_error("an output file needs a name");
  std::error_code unknown;  // what cannot be looked at cannot be written either: opening it says why
  const auto status = std::filesystem::status(path_, unknown);
  if (std::filesystem::is_directory(status)) {
    throw_input_error("{}: is a directory, a file name is needed", path_.string());
  }
  // Writing through a link replaces what it points to, not the link.
  const auto target = std::filesystem::canonical(path_, unknown);
  if (!unknown) path_ = target;
  // (The link /dev/stdout to a pipe has a status but no target with a name.)
  if (!std::filesystem::exists(status) && std::filesystem::is_symlink(path_, unknown)) {
    throw_input_error("{}: is a link to a place that is not there", path_.string());
  }
  // A pipe or a device (such as /dev/full) cannot be renamed onto: it is written as it is.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    return;
  }
  std::string name = path_.string() + kTemporarySuffix + "XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  temporary_ = name;
  fchmod(descriptor_, 0666 & ~current_umask());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (!temporary_.empty()) {
    write_at(size_, bytes);
    size_ += bytes.size();
    return;
  }
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_write_error(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void AtomicFile::write_at(std::size_t offset, std::string_view bytes) {
  write_all_at(descriptor_, path_, offset, bytes);
}

void AtomicFile::commit() {
  const bool is_temporary = !temporary_.empty();
  const bool flushed = !is_temporary || fsync(descriptor_) == 0;
  const int cause = errno;
  const bool closed = close(std::exchange(descriptor_, -1)) == 0;
  if (!flushed || !closed) throw_write_error(path_, flushed ? errno : cause);
  if (!is_temporary) return;
  if (rename(temporary_.c_str(), path_.c_str()) != 0) throw_write_error(path_, errno);
  temporary_.clear();
}

void write_into(const std::filesystem::path& path, std::size_t offset, std::string_view bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw_write_error(path, errno);
  const auto name = path.string().substr(0, path.string().rfind(kTemporarySuffix));
  try {
    write_all_at(descriptor, name, offset, bytes);
  } catch (...) {
    close(descriptor);
    throw;
  }
  if (close(descriptor) != 0) throw_write_error(name, errno);
}

}  // namespace podere
