#include "podere/classify/part_files.h"

#include <fcntl.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "podere/base/error.h"

namespace podere::classify {
namespace {

constexpr std::size_t kMostOpen = 64;  // part files at once
constexpr std::uint64_t kBegin = 1;
constexpr std::uint64_t kEnd = 2;

/// Before the bytes of each record.
struct Head {
  std::uint32_t checksum = 0;  ///< of the rest of the head and the bytes
  std::uint32_t kind = 0;
  std::uint64_t task = 0;
  std::uint64_t n_bytes = 0;
};

std::uint32_t checksum_of(const Head& head, std::string_view bytes) {
  const auto add = [](std::uint32_t crc, const void* data, std::size_t n) {
    return crc32_gzip_refl(crc, static_cast<const unsigned char*>(data), n);
  };
  const std::uint32_t of_head = add(0, &head.kind, sizeof head - offsetof(Head, kind));
  return add(of_head, bytes.data(), bytes.size());
}

}  // namespace

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PartFile::close() {
  const bool is_kept = fsync(descriptor_) == 0;
  const int error = errno;
  if (::close(std::exchange(descriptor_, -1)) == 0 && is_kept) return;
  throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(is_kept ? errno : error));
}

void PartFile::begin(std::uint64_t task) { add(task, kBegin, {}); }
void PartFile::end(std::uint64_t task, std::string_view result) { add(task, kEnd, result); }

void PartFile::add(std::uint64_t task, std::uint64_t kind, std::string_view bytes) {
  Head head{0, static_cast<std::uint32_t>(kind), task, bytes.size()};
  head.checksum = checksum_of(head, bytes);
  std::string record(sizeof head, '\0');
  std::memcpy(record.data(), &head, sizeof head);
  record += bytes;
  const std::lock_guard lock(mutex_);
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t n = write(descriptor_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_input_error("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

Results::Results(std::vector<std::filesystem::path> files, std::uint64_t n_tasks)
    : files_(std::move(files)), places_(n_tasks), n_open_(n_tasks) {
  for (std::uint32_t file = 0; file < files_.size(); ++file) read(file);
}

Results::~Results() {
  for (const auto& [file, descriptor] : descriptors_) close(descriptor);
}

void Results::read(std::uint32_t file) {
  std::ifstream in(files_[file], std::ios::binary);
  std::error_code failure;
  std::uint64_t n_left = std::filesystem::file_size(files_[file], failure);
  if (!in || failure) throw_input_error("{}: cannot be read", files_[file].string());
  std::uint64_t offset = 0;
  std::string bytes;
  for (Head head; n_left >= sizeof head && in.read(reinterpret_cast<char*>(&head), sizeof head);) {
    n_left -= sizeof head;
    if (head.n_bytes > n_left) return;  // cut off where the executor ended
    bytes.resize(head.n_bytes);
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!in || head.checksum != checksum_of(head, bytes)) return;
    if (head.task >= places_.size()) throw_input_error("{}: is of another run", files_[file].string());
    offset += sizeof head;
    if (head.kind == kEnd) {
      places_[head.task] = {file, offset, head.n_bytes};
      --n_open_[head.task];
    } else {
      ++n_open_[head.task];
    }
    offset += head.n_bytes;
    n_left -= head.n_bytes;
  }
}

int Results::descriptor_of(std::uint32_t file) const {
  if (const auto found = descriptors_.find(file); found != descriptors_.end()) return found->second;
  if (descriptors_.size() == kMostOpen) {  // tasks near each other are in few files
    for (const auto& [open_file, descriptor] : descriptors_) close(descriptor);
    descriptors_.clear();
  }
  const int descriptor = open(files_[file].c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_error("{}: cannot be read: {}", files_[file].string(), std::strerror(errno));
  descriptors_[file] = descriptor;
  return descriptor;
}

std::string Results::result(std::uint64_t task) const {
  if (!is_done(task)) throw_error("there is no result of task {}", task);
  const Place& place = places_[task];
  const int descriptor = descriptor_of(place.file);
  std::string bytes(place.n_bytes, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(place.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_error("{}: changed while it was read", files_[place.file].string());
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace podere::classify
