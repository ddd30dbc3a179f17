#include "podere/base/cannot_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "podere/base/error.h"

namespace podere {

void throw_cannot_read(const std::filesystem::path& path) {
  errno = 0;
  // Streams do not keep the reason, so it is asked for again. A pipe without a writer is not waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char byte = 0;
  const bool is_read = descriptor >= 0 && read(descriptor, &byte, 1) >= 0;
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (is_read || reason == 0) throw_input_error("{}: cannot be read", path.string());
  throw_input_error("{}: cannot be read: {}", path.string(), std::strerror(reason));
}

}  // namespace podere
