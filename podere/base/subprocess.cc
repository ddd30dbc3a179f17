#include "podere/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "podere/base/error.h"

namespace podere {
namespace {

/// Closes a descriptor at the end of its scope, unless it was released.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    number_ = other.release();
    return *this;
  }
  ~Descriptor() { reset(); }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

struct Ends {
  Descriptor read;
  Descriptor write;
};

Ends make_pipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_error("cannot make a pipe: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// A socket instead of a pipe: writing to one that is closed on the other side need not raise SIGPIPE.
Ends make_socket() {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_error("cannot make a socket: {}", std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> environment_of(const CommandLine& command) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const auto name = variable.substr(0, variable.find('='));
    const bool is_replaced = std::ranges::any_of(command.environment, [&](const auto& v) { return v.first == name; });
    const bool is_dropped = std::ranges::any_of(command.without, [&](const auto& w) { return name.starts_with(w); });
    if (!is_replaced && !is_dropped) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the child does between fork and exec: system calls only.
[[noreturn]] void become(const char* path, char* const* argv, char* const* environment,
                         const std::array<int, 3>& streams, pid_t parent, int failure) {
  // Should the parent die, even by SIGKILL, so does this process. It may have died before prctl.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bool ready = true;
  for (int i = 0; i < 3; ++i) ready = ready && dup2(streams[static_cast<std::size_t>(i)], i) == i;
  if (ready) execve(path, argv, environment);
  const int cause = errno;
  [[maybe_unused]] const auto written = write(failure, &cause, sizeof cause);
  _exit(127);
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "";
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    const std::string candidate = std::string(folders.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return std::nullopt;
}

std::string program_beside(const std::string& name) {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  if (access(path.c_str(), X_OK) == 0) return path.string();
  throw_error("there is no program {} in {}", name, path.parent_path().string());
}

Subprocess::Subprocess(const CommandLine& command) {
  const auto path = find_program(command.argv.at(0));
  if (!path) throw_error("cannot start {}: there is no such program", command.argv[0]);
  Ends input = make_socket();
  Ends output = make_pipe();
  Ends error = make_pipe();
  Ends failure = make_pipe();
  auto argv_texts = command.argv;
  auto environment_texts = environment_of(command);
  const auto argv = pointers(argv_texts);
  const auto environment = pointers(environment_texts);
  // dup2 onto itself would keep the close-on-exec flag: the streams must not lie at 0, 1 or 2.
  std::array<Descriptor, 3> streams;
  const std::array<int, 3> ends = {input.read.get(), output.write.get(), error.write.get()};
  for (std::size_t i = 0; i < 3; ++i) streams[i] = Descriptor(fcntl(ends[i], F_DUPFD_CLOEXEC, 3));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw_error("cannot start {}: {}", *path, std::strerror(errno));
  if (pid_ == 0) {
    become(path->c_str(), argv.data(), environment.data(), {streams[0].get(), streams[1].get(), streams[2].get()},
           parent, failure.write.get());
  }
  setpgid(pid_, pid_);  // also here: either may be first, and needs the group to continue
  failure.write.reset();
  int cause = 0;
  if (read(failure.read.get(), &cause, sizeof cause) == sizeof cause) {
    waitpid(pid_, nullptr, 0);
    throw_error("cannot start {}: {}", *path, std::strerror(cause));
  }
  input_ = LineSocket(input.write.release());
  output_.descriptor = output.read.release();
  error_.descriptor = error.read.release();
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::exchange(other.output_, {})),
      error_(std::exchange(other.error_, {})),
      exit_code_(other.exit_code_) {}

Subprocess::~Subprocess() {
  terminate();
  for (const int descriptor : {output_.descriptor, error_.descriptor}) {
    if (descriptor >= 0) close(descriptor);
  }
}

std::optional<std::string> Subprocess::Reader::take_line() {
  if (auto line = lines.take_line()) return line;
  return descriptor < 0 && !ended() ? std::optional(lines.take_rest()) : std::nullopt;
}

void Subprocess::Reader::read_available() {
  std::array<char, 65536> chunk;
  const ssize_t n = read(descriptor, chunk.data(), chunk.size());
  if (n > 0) lines.append({chunk.data(), static_cast<std::size_t>(n)});
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) close(std::exchange(descriptor, -1));
}

std::optional<Subprocess::Line> Subprocess::next_line(int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    if (auto line = output_.take_line()) return Line{Stream::kOutput, std::move(*line)};
    if (auto line = error_.take_line()) return Line{Stream::kError, std::move(*line)};
    if (output_.descriptor < 0 && error_.descriptor < 0) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    std::array<pollfd, 2> sources = {pollfd{output_.descriptor, POLLIN, 0}, pollfd{error_.descriptor, POLLIN, 0}};
    if (poll(sources.data(), sources.size(), static_cast<int>(std::max<long>(left, 0))) <= 0) return std::nullopt;
    if (sources[0].revents != 0) output_.read_available();
    if (sources[1].revents != 0) error_.read_available();
  }
}

bool Subprocess::streams_ended() const { return output_.ended() && error_.ended(); }

std::optional<int> Subprocess::wait(int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (!exit_code_ && pid_ > 0) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    } else if (std::chrono::steady_clock::now() >= deadline) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return exit_code_;
}

void Subprocess::terminate(int grace_ms) {
  if (pid_ <= 0 || exit_code_) return;
  close_input();
  kill(-pid_, SIGTERM);
  if (wait(grace_ms)) return;
  kill(-pid_, SIGKILL);
  while (!wait(1000)) {
  }
}

}  // namespace podere
