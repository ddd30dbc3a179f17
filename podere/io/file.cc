#include "podere/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"

namespace podere::io {

File::File(const std::filesystem::path& path) : name_(path.string()) {
  // Looked at before it is opened: opening a pipe would wait for its writer.
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw_input_error("{}: cannot be read: {}", name_, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw_input_error("{}: is a directory, a file is needed", name_);
  if (!S_ISREG(status.st_mode)) {
    throw_input_error("{}: is a pipe or a device, which cannot be read twice: write it to a file first", name_);
  }
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw_input_error("{}: cannot be read: {}", name_, std::strerror(errno));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

// Read, never mapped: mapped pages would count as memory of the executor.
std::size_t File::read_at(std::uint64_t offset, std::span<char> bytes) const {
  if (offset >= size_) return 0;
  const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), size_ - offset));
  CountedFileCall call(CountedFileCall::Kind::kRead);
  for (std::size_t done = 0; done < n;) {
    const ssize_t got = pread(descriptor_, bytes.data() + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_error("{}: cannot be read: {}", name_, std::strerror(errno));
    if (got == 0) throw_input_error("{}: became shorter while it was read", name_);
    done += static_cast<std::size_t>(got);
    call.add(static_cast<std::size_t>(got));
  }
  return n;
}

SourceVersion file_version(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? "" : fmt::format("{} {}", size, time.time_since_epoch().count());
}

}  // namespace podere::io
