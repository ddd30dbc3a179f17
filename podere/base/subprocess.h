// Starting another program and talking to it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/line_buffer.h"
#include "podere/base/local_socket.h"

namespace podere {

/// What to start: the program (a path, or a name found in PATH) with its arguments. It has this process's environment
/// less the variables that begin with one of `without`, and with `environment` on top.
struct CommandLine {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::vector<std::string> without = {};
};

/// The path of a program: `name` itself if it has a slash, else the first executable of that name in PATH.
std::optional<std::string> find_program(const std::string& name);

/// The path of a program of Podere's own, which lies beside the one that runs. Throws Error if it is not there.
std::string program_beside(const std::string& name);

/// A program started in a process group of its own, so that a terminal's Ctrl-C does not reach it, with its three
/// standard streams held here. It is ended with its group when this object or the thread that made it goes, in
/// whatever way. Not thread-safe.
class Subprocess {
 public:
  enum class Stream { kOutput, kError };
  struct Line {
    Stream stream;
    std::string text;  ///< without the newline
  };

  /// Throws Error if the program cannot be started.
  explicit Subprocess(const CommandLine& command);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&&) = delete;
  /// As terminate().
  ~Subprocess();

  /// Sends `text` and a newline to its standard input. False if it no longer reads.
  bool send_line(std::string_view text) { return input_.send_line(text); }
  /// Ends its standard input.
  void close_input() { input_.close(); }

  /// The next line it wrote, waiting up to `timeout_ms` (less if a signal handler ran). Nothing if none came, or at
  /// once if both streams have ended.
  std::optional<Line> next_line(int timeout_ms);
  /// Both streams have ended and all lines were read.
  bool streams_ended() const;

  /// Waits up to `timeout_ms` for its end. Its exit code, or 128 + the signal that ended it.
  std::optional<int> wait(int timeout_ms);

  /// SIGTERM to its group, SIGKILL to what is left after `grace_ms`; returns when it is gone.
  void terminate(int grace_ms = 2000);

  pid_t pid() const { return pid_; }

 private:
  /// Lines that arrive through one descriptor.
  struct Reader {
    int descriptor = -1;
    LineBuffer lines;
    std::optional<std::string> take_line();
    void read_available();
    bool ended() const { return descriptor < 0 && lines.size() == 0; }
  };

  pid_t pid_ = -1;
  LineSocket input_;
  Reader output_;
  Reader error_;
  std::optional<int> exit_code_;
};

}  // namespace podere
