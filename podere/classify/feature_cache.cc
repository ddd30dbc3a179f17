#include "podere/classify/feature_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>
#include <tuple>

#include "podere/base/sha256.h"
#include "podere/graph/plan.h"

namespace podere::classify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNetworkNameBytes = 32;
constexpr std::size_t kFeatureKeyBytes = 64;
constexpr std::size_t kFeatureCheckBytes = 16;
constexpr int kMostFeatureFiles = 4096;  // processes at once
constexpr const char* kFeaturesSuffix = ".features";
static_assert(std::endian::native == std::endian::little);  // as records are

std::string check_of(std::string_view key_and_values) {
  return sha256_of(key_and_values).substr(0, kFeatureCheckBytes);
}

bool read_at(int descriptor, std::uint64_t offset, std::span<char> bytes) {
  const ssize_t n = pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return n == static_cast<ssize_t>(bytes.size());
}

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

struct NetworkFolder {
  fs::file_time_type used;
  fs::path path;
  std::uint64_t n_bytes;
};

/// Calls `visit` with each entry of a folder; others may remove it meanwhile.
void for_each_entry(const fs::path& folder, const std::function<void(const fs::directory_entry&)>& visit) {
  std::error_code gone;
  for (auto entry = fs::directory_iterator(folder, gone); !gone && entry != fs::directory_iterator();
       entry.increment(gone)) {
    visit(*entry);
  }
}

/// Whether a folder is called as those of networks are: a cache may be in a folder that has something else, too.
bool is_of_network(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() == kNetworkNameBytes && name.find_first_not_of("0123456789abcdef") == name.npos;
}

NetworkFolder look_at(const fs::path& path) {
  std::error_code gone;
  NetworkFolder found{fs::last_write_time(path, gone), path, 0};
  for_each_entry(path, [&](const fs::directory_entry& file) {
    const auto n_bytes = file.path().extension() == kFeaturesSuffix ? file.file_size(gone) : 0;
    if (!gone) found.n_bytes += n_bytes;
  });
  return found;
}

void remove_network(const fs::path& path) {
  std::error_code ignored;
  for_each_entry(path, [&](const fs::directory_entry& file) {
    if (file.path().extension() == kFeaturesSuffix) fs::remove(file.path(), ignored);
  });
  fs::remove(path, ignored);
}

/// Removes what was not used for the longest time, but for `kept`, until all is no larger than `most_bytes` when `kept`
/// has grown to `wanted_bytes`. Returns how large all is now.
std::uint64_t make_room(const fs::path& folder, const fs::path& kept, std::uint64_t wanted_bytes,
                        std::uint64_t most_bytes) {
  std::vector<NetworkFolder> found;
  for_each_entry(folder, [&](const fs::directory_entry& entry) {
    if (is_of_network(entry.path())) found.push_back(look_at(entry.path()));
  });
  std::uint64_t n_bytes = 0;
  std::uint64_t n_growing = wanted_bytes;
  for (const NetworkFolder& network : found) {
    n_bytes += network.n_bytes;
    if (network.path == kept) n_growing -= std::min(n_growing, network.n_bytes);
  }
  std::ranges::sort(found, {}, [](const NetworkFolder& network) { return std::tie(network.used, network.path); });
  for (const NetworkFolder& network : found) {
    if (n_bytes + n_growing <= most_bytes) break;
    if (network.path == kept) continue;
    remove_network(network.path);
    n_bytes -= network.n_bytes;
  }
  return n_bytes;
}

}  // namespace

fs::path usual_feature_cache() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  const fs::path cache = variable("XDG_CACHE_HOME");
  const fs::path home = variable("HOME");
  if (cache.is_absolute()) return cache / "podere/features";
  return home.is_absolute() ? home / ".cache/podere/features" : fs::path();
}

FeatureCache::FeatureCache(const FeatureCacheOptions& options)
    : network_(options.folder /
               sha256_of(fmt::format("{} {} {}", options.fingerprint, PODERE_VERSION, graph::kBitsVersion))
                   .substr(0, kNetworkNameBytes)),
      n_values_(options.n_values) {
  std::error_code failure;
  fs::create_directories(network_, failure);
  fs::last_write_time(network_, fs::file_time_type::clock::now(), failure);  // it is used
  const std::uint64_t wanted_bytes = std::min(options.most_bytes, options.n_pictures * record_bytes());
  const std::uint64_t n_bytes = make_room(options.folder, network_, wanted_bytes, options.most_bytes);
  bytes_left_ = (options.most_bytes - std::min(n_bytes, options.most_bytes)) /
                static_cast<std::uint64_t>(std::max(options.n_writers, 1));
  for_each_entry(network_, [&](const fs::directory_entry& file) {
    std::error_code unknown;
    if (file.path().extension() == kFeaturesSuffix && file.is_regular_file(unknown)) read_keys(file.path());
  });
}

FeatureCache::~FeatureCache() {
  for (const int descriptor : descriptors_) close(descriptor);
  if (own_ >= 0) close(own_);  // and unlocks it
}

std::size_t FeatureCache::record_bytes() const {
  return kFeatureKeyBytes + n_values_ * sizeof(float) + kFeatureCheckBytes;
}

void FeatureCache::read_keys(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  descriptors_.push_back(descriptor);
  const std::uint64_t n = size_of(descriptor) / record_bytes();
  std::string key(kFeatureKeyBytes, '\0');
  for (std::uint64_t i = 0; i < n; ++i) {
    if (read_at(descriptor, i * record_bytes(), key))
      places_.insert_or_assign(key, Place{descriptor, i * record_bytes()});
  }
}

bool FeatureCache::find(const std::string& sha256, std::span<float> values) const {
  Place place{};
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(sha256);
    if (found == places_.end()) return false;
    place = found->second;
  }
  std::string record(record_bytes(), '\0');
  if (!read_at(place.descriptor, place.offset, record)) return false;
  const std::string_view checked = std::string_view(record).substr(0, record.size() - kFeatureCheckBytes);
  if (!checked.starts_with(sha256) || !record.ends_with(check_of(checked))) return false;
  std::memcpy(values.data(), record.data() + kFeatureKeyBytes, values.size_bytes());
  return true;
}

/// The first that no other process adds to. Another may have ended amid a record, which is cut off.
void FeatureCache::open_own_file() {
  for (int i = 0; own_ < 0 && i < kMostFeatureFiles; ++i) {
    const fs::path file = network_ / fmt::format("{}{}", i, kFeaturesSuffix);
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (descriptor < 0 && errno == EACCES) continue;  // another user's
    if (descriptor < 0) return;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      own_size_ = size_of(descriptor) / record_bytes() * record_bytes();
      if (ftruncate(descriptor, static_cast<off_t>(own_size_)) == 0) own_ = descriptor;
    }
    const bool is_held = own_ < 0 && errno == EWOULDBLOCK;
    if (own_ < 0) close(descriptor);
    if (own_ < 0 && !is_held) return;  // a file system without locks
  }
}

void FeatureCache::add(const std::string& sha256, std::span<const float> values) {
  std::string record = sha256;
  const auto bytes = std::as_bytes(values);
  record.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  record += check_of(record);
  const std::lock_guard lock(mutex_);
  if (is_full_) return;
  if (own_ < 0 && bytes_left_ >= record.size()) open_own_file();
  is_full_ = own_ < 0 || bytes_left_ < record.size() ||
             write(own_, record.data(), record.size()) != static_cast<ssize_t>(record.size());
  if (is_full_) return;
  places_.insert_or_assign(sha256, Place{own_, own_size_});
  own_size_ += record.size();
  bytes_left_ -= record.size();
}

}  // namespace podere::classify
