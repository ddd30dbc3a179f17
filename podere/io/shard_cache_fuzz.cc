// libFuzzer program of the shard cache. An input is one shard file, whose header is given the checksum it needs, so
// that what it says is looked at. Rows are read, or the file counts as absent; nothing is thrown.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "podere/base/temporary_folder.h"
#include "podere/io/shard_cache.h"
#include "podere/io/shard_file.h"

namespace {

namespace fs = std::filesystem;

/// A folder with one shard that is a file in memory.
struct Cache {
  Cache() {
    const std::string file = fmt::format("/proc/{}/fd/{}", getpid(), descriptor);
    fs::create_symlink(file, shard());
  }
  fs::path shard() const { return folder.path() / "t.0.shard"; }

  podere::TemporaryFolder folder{fs::temp_directory_path()};
  int descriptor = memfd_create("shard", MFD_CLOEXEC);
};

void mend_checksum(std::string& bytes) {
  if (bytes.size() < podere::io::ShardHeader::kFixedBytes) return;
  std::uint64_t header_bytes;
  std::memcpy(&header_bytes, bytes.data() + 16, sizeof header_bytes);
  if (header_bytes < 16 || header_bytes > bytes.size()) return;
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + 16, static_cast<std::size_t>(header_bytes) - 16));
  std::memcpy(bytes.data() + 12, &checksum, sizeof checksum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;
  static const Cache cache;
  std::string content(reinterpret_cast<const char*>(bytes), n_bytes);
  if (n_bytes % 8 != 7) mend_checksum(content);
  if (ftruncate(cache.descriptor, 0) != 0 ||
      pwrite(cache.descriptor, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
    std::abort();
  }
  const auto table = podere::io::read_shards(cache.folder.path(), "t", podere::comm::Communicator::self());
  if (!table) return 0;
  if (table->n_rows() != table->n_global_rows() || table->n_rows() * table->n_columns() * 4 > n_bytes) std::abort();
  // What was read can be written and read again.
  const auto shard = podere::io::ShardFile::open(cache.shard());
  if (!shard || !podere::io::ShardHeader::from_json(shard->header().to_json())) std::abort();
  return 0;
}
