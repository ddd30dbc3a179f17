#include "podere/image/micrograph_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/file_traffic.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/base/temporary_folder.h"
#include "podere/image/micrograph.h"

namespace podere::image {
namespace {

namespace fs = std::filesystem;

/// In a folder that is no one else's and goes if anything fails: neither a temporary name nor a flush for each file.
void write_new_file(const fs::path& path, std::string_view bytes) {
  const auto fail = [&] {
    const int cause = errno;
    const std::string message = fmt::format("{}: cannot be written: {}", path.string(), std::strerror(cause));
    if (cause == ENOSPC || cause == EDQUOT) throw InputError(message);
    throw Error(message);
  };
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) fail();
  const struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } closer{descriptor};
  CountedFileCall call(CountedFileCall::Kind::kWrite);
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail();
    call.add(static_cast<std::size_t>(n));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// On the disk, all of the file system that it lies on.
void flush(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  syncfs(descriptor);
  close(descriptor);
}

/// Below its kind, with as many digits for all.
std::string micrograph_name(std::uint64_t seed, std::uint64_t index, std::uint64_t n) {
  const auto n_digits = std::max<std::size_t>(std::to_string(n - 1).size(), 6);
  return fmt::format("{}/{:0{}}.tif", kMicrographKinds[static_cast<std::size_t>(micrograph_kind(seed, index))], index,
                     n_digits);
}

}  // namespace

void write_micrographs(const fs::path& folder, std::uint64_t seed, std::uint64_t n, int n_threads, Progress& progress) {
  const std::string name = printable_line(folder.string(), 400);
  std::error_code unknown;
  if (fs::exists(folder, unknown) && (!fs::is_directory(folder, unknown) || !fs::is_empty(folder, unknown))) {
    throw_input_error("{}: is there already, and would be lost: choose another name, or remove it", name);
  }
  const fs::path absolute = fs::absolute(folder.filename().empty() ? folder.parent_path() : folder);
  const TemporaryFolder temporary(absolute.parent_path());
  const fs::path made = temporary.path() / "pictures";
  for (const std::string_view kind : kMicrographKinds) fs::create_directories(made / kind);
  std::string labels = "picture,label\n";
  const std::uint64_t batch = static_cast<std::uint64_t>(std::max(n_threads, 1)) * 8;
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t end = std::min(n, done + batch);
    parallel_for(n_threads, static_cast<std::size_t>(end - done), [&](std::size_t k, int) {
      const std::uint64_t index = done + k;
      write_new_file(made / micrograph_name(seed, index, n), to_tiff(make_micrograph(seed, index)));
    });
    for (std::uint64_t index = done; index < end; ++index) {
      const std::string file = micrograph_name(seed, index, n);
      labels += file + ',' + file.substr(0, file.find('/')) + '\n';
    }
    if (progress.stop_requested()) throw_error("{}: not written: stopped after {} of {} pictures", name, done, n);
    done = end;
    progress.report({.phase = "generate", .done = done, .total = n, .metrics = {}, .unit = "picture"});
  }
  write_new_file(made / "LABELS.csv", labels);
  flush(made);
  std::error_code error;
  fs::permissions(made,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  error);
  fs::rename(made, absolute, error);
  if (error) throw_input_error("{}: cannot be made: {}", name, error.message());
}

}  // namespace podere::image
