// libFuzzer program of tar archives, plain and packed: pictures that have the same bytes in whatever order they are
// read, or InputError. Checksums of headers are mended, without which few inputs would come past them.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>

#include "podere/image/tar_archive.h"

namespace {

using Content = std::optional<std::vector<std::uint8_t>>;  // nothing: it cannot be read

Content content_of(const podere::image::PictureStore& store, std::size_t i) {
  try {
    return store.read(i, "picture");
  } catch (const podere::image::PictureFault&) {
  } catch (const podere::InputError&) {  // the archive itself is damaged before it
  }
  return std::nullopt;
}

void read_all(const std::string& path) {
  const podere::image::TarPictures pictures = podere::image::open_tar(path);
  const std::size_t n = pictures.names.size();
  if (std::set<std::string>(pictures.names.begin(), pictures.names.end()).size() != n) __builtin_trap();
  std::vector<Content> forward;
  std::size_t n_bytes = 0;
  for (std::size_t i = 0; i < n && n_bytes < std::size_t{64} << 20; ++i) {
    forward.push_back(content_of(*pictures.store, i));
    if (!forward.back()) continue;
    if (forward.back()->size() > podere::image::kMostFileBytes) __builtin_trap();
    n_bytes += forward.back()->size();
  }
  for (std::size_t i = forward.size(); i-- > 0;) {
    if (content_of(*pictures.store, i) != forward[i]) __builtin_trap();
  }
}

/// Puts the right checksum into all blocks that say to be headers: six octal digits, and two bytes that count as
/// spaces.
void mend_checksums(std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t kBlock = 512, kMagicAt = 257, kSumAt = 148, kSumBytes = 8;
  for (std::size_t begin = 0; begin + kBlock <= bytes.size(); begin += kBlock) {
    if (std::memcmp(&bytes[begin + kMagicAt], "ustar", 5) != 0) continue;
    std::memset(&bytes[begin + kSumAt], ' ', kSumBytes);
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += bytes[begin + i];
    std::array<char, kSumBytes> digits{};
    std::snprintf(digits.data(), digits.size(), "%06o", sum);
    std::memcpy(&bytes[begin + kSumAt], digits.data(), digits.size() - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t n_bytes) {
  std::vector<std::uint8_t> bytes(input, input + n_bytes);
  mend_checksums(bytes);
  const int file = memfd_create("archive", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), n_bytes) != static_cast<ssize_t>(n_bytes)) __builtin_trap();
  try {
    read_all("/proc/self/fd/" + std::to_string(file));
  } catch (const podere::InputError&) {
  }
  close(file);
  return 0;
}
