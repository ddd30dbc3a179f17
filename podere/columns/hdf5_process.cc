#include "podere/columns/hdf5_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/subprocess.h"
#include "podere/columns/hdf5_protocol.h"

namespace podere::columns {
namespace {

constexpr int kSocketBytes = 1 << 20;

}  // namespace

class Hdf5Processes::Process {
 public:
  Process(const std::string& path, const std::string& key) {
    std::string program = program_beside("podere-hdf5"), file = path, name = key;
    // A socket, not pipes: writing to a process that is gone need not raise SIGPIPE.
    std::array<int, 2> ends;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw_error("cannot make a socket: {}", std::strerror(errno));
    }
    socket_ = ends[0];
    for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);  // what a crash prints
    // A terminal's Ctrl-C does not reach a group of its own: who reads decides when it ends.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::array<char*, 4> argv = {program.data(), file.data(), name.data(), nullptr};
    const int error = posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) return;
    close(socket_);
    throw_error("cannot start {}: {}", program, std::strerror(error));
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    close(socket_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  /// Throws InputError, with the path, if it ended.
  void send(const std::string& path, const Hdf5Request& request) {
    const auto* from = reinterpret_cast<const char*>(&request);
    for (std::size_t done = 0; done < sizeof request;) {
      const ssize_t n = ::send(socket_, from + done, sizeof request - done, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) refuse_crash(path);
      done += static_cast<std::size_t>(n);
    }
  }

  /// What precedes an answer; if that refuses, throws InputError with what it says.
  Hdf5Answer receive_head(const std::string& path) {
    Hdf5Answer head;
    receive(path, std::as_writable_bytes(std::span(&head, 1)));
    if (head.n_bytes > kHdf5MostAnswerBytes) refuse_crash(path);
    if (head.is_refused == 0) return head;
    std::string words(static_cast<std::size_t>(head.n_bytes), '\0');
    receive(path, std::as_writable_bytes(std::span(words)));
    throw_input_error("{}: {}", path, words);
  }

  void receive(const std::string& path, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = recv(socket_, bytes.data(), bytes.size(), 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) refuse_crash(path);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  [[noreturn]] void refuse_crash(const std::string& path) {
    shutdown(socket_, SHUT_RDWR);  // it may still want to write
    int status = 0;
    if (waitpid(std::exchange(pid_, -1), &status, 0) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
      throw_input_error(
          "{}: the file is damaged, or a part of it too large: the library of HDF5 computes on it for more than {} "
          "seconds",
          path, kHdf5SecondsPerAnswer);
    }
    throw_input_error("{}: the file is damaged: the library of HDF5 crashes on it", path);
  }

  int socket_ = -1;
  pid_t pid_ = -1;
};

Hdf5Processes::Hdf5Processes(std::string path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
  idle_.push_back(start(contents_));
}

Hdf5Processes::~Hdf5Processes() = default;

std::unique_ptr<Hdf5Processes::Process> Hdf5Processes::start(std::string& contents) const {
  auto process = std::make_unique<Process>(path_, key_);
  contents.resize(static_cast<std::size_t>(process->receive_head(path_).n_bytes));
  process->receive(path_, std::as_writable_bytes(std::span(contents)));
  return process;
}

std::unique_ptr<Hdf5Processes::Process> Hdf5Processes::take() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto process = std::move(idle_.back());
      idle_.pop_back();
      return process;
    }
  }
  std::string contents;
  auto process = start(contents);
  if (contents != contents_) throw_input_error("{}: changed while it was read", path_);
  return process;
}

void Hdf5Processes::read(std::uint64_t array, std::uint64_t first_byte, std::span<std::byte> bytes) const {
  auto process = take();
  process->send(path_, {array, first_byte, bytes.size()});
  if (process->receive_head(path_).n_bytes != bytes.size()) throw_error("{}: podere-hdf5 gave too few bytes", path_);
  process->receive(path_, bytes);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(process));
}

}  // namespace podere::columns
