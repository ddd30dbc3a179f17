#include "podere/image/decode_apart.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/subprocess.h"

namespace podere::image {
namespace {

/// What goes before a text, which is the message of a fault or the detector, and the pixels.
struct Head {
  std::uint32_t is_fault = 0;
  std::uint32_t kind = 0;
  std::uint32_t width = 0, height = 0;
  std::int32_t n_channels = kRgb;
  std::uint32_t n_text_bytes = 0;
  std::uint32_t has_other_pages = 0;
  std::uint32_t unused = 0;
  std::array<double, 4> microscope = {};  // as numbers_of
};

/// Of each absent one NaN.
std::array<double, 4> numbers_of(const MicroscopeFacts& facts) {
  const auto number = [](const std::optional<double>& fact) { return fact.value_or(std::nan("")); };
  return {number(facts.pixel_size_nm), number(facts.voltage_kv), number(facts.working_distance_mm),
          number(facts.magnification)};
}
MicroscopeFacts facts_of(const std::array<double, 4>& numbers, std::string detector) {
  const auto fact = [](double number) { return std::isnan(number) ? std::nullopt : std::optional(number); };
  return {.pixel_size_nm = fact(numbers[0]),
          .voltage_kv = fact(numbers[1]),
          .working_distance_mm = fact(numbers[2]),
          .magnification = fact(numbers[3]),
          .detector = std::move(detector),
          .pairs = {}};
}

/// A file without a name, which goes with its last descriptor.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("picture", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw_error("there is no memory to decode a picture in: {}", std::strerror(errno));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Whether the file has bytes for all of `bytes` from its byte `begin` on.
bool read_at(int descriptor, std::size_t begin, std::span<std::uint8_t> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::size_t size_of_file(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::vector<std::uint8_t> read_all(int descriptor) {
  std::vector<std::uint8_t> bytes(size_of_file(descriptor));
  return read_at(descriptor, 0, bytes) ? bytes : std::vector<std::uint8_t>();
}

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Runs `podere decode` with these streams. Returns its status, as waitpid has it.
int run_decoder(std::vector<std::string> words, int input, int output) {
  words.insert(words.begin(), {program_beside("podere"), "decode"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, output, STDOUT_FILENO);
  pid_t process = 0;
  const int failure = posix_spawn(&process, argv[0], &streams, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failure != 0) throw_error("cannot start {}: {}", words[0], std::strerror(failure));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/// Whether a process ends so by its own doing. Others end it by SIGKILL, as where memory runs short.
bool is_crash(int signal) {
  constexpr std::array kCrashes = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
  return std::ranges::find(kCrashes, signal) != kCrashes.end();
}

/// Throws PictureFault for a picture that crashed the process or took it too long, and Error where something else ended
/// it.
void check_end(int status, const std::string& name, int most_seconds) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) throw_too_slow(name, most_seconds);
  const std::string how = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                              : fmt::format("with exit code {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status) && is_crash(WTERMSIG(status))) {
    throw_fault(FaultKind::kEndsDecoder, "{}: the process that decoded it ended {}; it may be damaged", name, how);
  }
  throw_error("{}: the process that decoded it ended {}: there may be too little memory, give executors fewer cores",
              name, how);
}

/// What the process wrote. The pixels are read to where they stay: a picture may be large.
PictureWithFacts read_answer(int descriptor, const std::string& name) {
  const auto fail = [&] { throw_error("{}: the process that decoded it answered in part", name); };
  Head head;
  if (!read_at(descriptor, 0, {reinterpret_cast<std::uint8_t*>(&head), sizeof head})) {
    throw_error("{}: the process that decoded it answered nothing", name);
  }
  const std::size_t n_rest = size_of_file(descriptor) - sizeof head;
  if (head.n_text_bytes > n_rest) fail();
  std::vector<std::uint8_t> text(head.n_text_bytes);
  if (!read_at(descriptor, sizeof head, text)) fail();
  if (head.is_fault != 0) throw PictureFault(static_cast<FaultKind>(head.kind), std::string(as_text(text)));
  const bool has_colors = head.n_channels == kRgb;
  const std::uint64_t n_pixels = std::uint64_t{head.width} * head.height;
  if (!has_colors && head.n_channels != kGray) fail();
  if (n_pixels > n_rest || n_pixels * (has_colors ? kRgb : kGray) != n_rest - text.size()) fail();
  PictureWithFacts decoded{Picture(head.width, head.height, head.n_channels),
                           facts_of(head.microscope, std::string(as_text(text))), head.has_other_pages != 0};
  if (!read_at(descriptor, sizeof head + text.size(), decoded.picture.pixels)) fail();
  return decoded;
}

void limit(decltype(RLIMIT_CPU) what, rlim_t most) {
  const rlimit limits{most, most + 10};  // at the second it would be SIGKILL, which may have other reasons
  setrlimit(what, &limits);
}

}  // namespace

void throw_too_slow(const std::string& name, int most_seconds) {
  throw_fault(FaultKind::kTooSlow,
              "{}: takes more than {} s to decode; it may be damaged, else --decode-seconds N "
              "allows more",
              name, most_seconds);
}

PictureWithFacts decode_apart(Bytes bytes, const std::string& name, int most_seconds, const DecodeOptions& options) {
  const MemoryFile input, output;
  if (!write_all(input.descriptor(), as_text(bytes)) || lseek(input.descriptor(), 0, SEEK_SET) != 0) {
    throw_error("{}: there is no memory to decode it in", name);
  }
  const int status =
      run_decoder({"--seconds", std::to_string(most_seconds), "--page", std::to_string(options.page), "--bits",
                   std::to_string(options.n_bits), "--bytes", std::to_string(options.max_bytes), "--", name},
                  input.descriptor(), output.descriptor());
  check_end(status, name, most_seconds);
  return read_answer(output.descriptor(), name);
}

int decode_for_another(const std::string& name, int most_seconds, const DecodeOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGXCPU, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(most_seconds));
  Head head;
  std::string text;
  Picture picture;
  try {
    PictureWithFacts decoded = decode_with_facts(read_all(STDIN_FILENO), name, options);
    picture = std::move(decoded.picture);
    text = std::move(decoded.microscope.detector);
    head = {.width = picture.width,
            .height = picture.height,
            .n_channels = picture.n_channels,
            .has_other_pages = decoded.has_other_pages ? 1U : 0U,
            .microscope = numbers_of(decoded.microscope)};
  } catch (const PictureFault& fault) {
    text = fault.what();
    head = {.is_fault = 1, .kind = static_cast<std::uint32_t>(fault.kind())};
  }
  head.n_text_bytes = static_cast<std::uint32_t>(text.size());
  const std::string_view bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const bool is_written = write_all(STDOUT_FILENO, bytes) && write_all(STDOUT_FILENO, text) &&
                          write_all(STDOUT_FILENO, as_text(picture.pixels));
  return is_written ? 0 : 1;
}

}  // namespace podere::image
