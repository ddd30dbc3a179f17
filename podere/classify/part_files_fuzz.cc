// libFuzzer program of part files, and of the outcomes in them. The first byte says of how many tasks they are, and
// whether checksums are mended, without which no input would come past them. An outcome stays the same when it is
// written again; anything else is an Error.
#include <isa-l/crc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "podere/base/error.h"
#include "podere/classify/outcome.h"
#include "podere/classify/part_files.h"

namespace {

constexpr std::uint64_t kMostTasks = 64;

/// Puts the right checksum before each record, as far as they are whole: 4 bytes of checksum, 4 of the kind, 8 of the
/// task, 8 of the number of bytes that follow.
void mend_checksums(std::string& bytes) {
  constexpr std::size_t kHeadBytes = 24, kLengthAt = 16;
  for (std::size_t begin = 0; bytes.size() - begin >= kHeadBytes;) {
    std::uint64_t length = 0;
    std::memcpy(&length, &bytes[begin + kLengthAt], sizeof length);
    if (length > bytes.size() - begin - kHeadBytes) return;
    const std::uint32_t checksum =
        crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(&bytes[begin + 4]), kHeadBytes - 4 + length);
    std::memcpy(&bytes[begin], &checksum, sizeof checksum);
    begin += kHeadBytes + length;
  }
}

void read_outcome(const std::string& bytes) {
  using podere::classify::from_bytes, podere::classify::to_bytes;
  try {
    const podere::classify::Outcome outcome = from_bytes(bytes);
    if (to_bytes(from_bytes(to_bytes(outcome))) != to_bytes(outcome)) __builtin_trap();
    std::string line;
    podere::classify::append_csv_line("picture", outcome, 2, std::vector<std::string>{"tips", "wires"}, line);
  } catch (const podere::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t n_bytes) {
  if (n_bytes == 0) return 0;
  const std::uint64_t n_tasks = input[0] % kMostTasks;
  std::string bytes(reinterpret_cast<const char*>(input) + 1, n_bytes - 1);
  if (input[0] >= 128) mend_checksums(bytes);
  const int file = memfd_create("part", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) __builtin_trap();
  try {
    const podere::classify::Results results({"/proc/self/fd/" + std::to_string(file)}, n_tasks);
    for (std::uint64_t task = 0; task < n_tasks; ++task) {
      if (results.is_done(task) && results.was_begun(task)) __builtin_trap();
      if (results.is_done(task)) read_outcome(results.result(task));
    }
  } catch (const podere::InputError&) {
  }
  close(file);
  return 0;
}
