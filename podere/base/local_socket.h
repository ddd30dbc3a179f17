// Lines of text between processes of one user on one machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "podere/base/clock.h"
#include "podere/base/line_buffer.h"

namespace podere {

/// One end of a connection that carries lines. Moved, not copied; closes when it goes. One thread may send while
/// another receives.
class LineSocket {
 public:
  LineSocket() = default;
  explicit LineSocket(int descriptor) : descriptor_(descriptor) {}
  LineSocket(LineSocket&& other) noexcept;
  LineSocket& operator=(LineSocket&& other) noexcept;
  ~LineSocket() { close(); }

  /// Connects to a socket file. Returns nothing if no process listens there.
  static std::optional<LineSocket> connect(const std::filesystem::path& path);

  /// Sends `text` and a newline. False if the other side has gone, or takes nothing for 10 s: the connection
  /// is over then.
  bool send_line(std::string_view text);
  /// Sends of `text` and a newline what the other side has room for, after what was kept before, and keeps the rest.
  /// Does not wait.
  void post_line(std::string_view text);
  /// Sends more of what post_line() kept. Does not wait. False if the other side has gone, or has received nothing of
  /// it for 10 s: the connection is over then.
  bool flush();
  std::size_t n_unsent_bytes() const { return posted_.size() - n_posted_sent_; }
  /// The next line that is here in whole. Does not wait.
  std::optional<std::string> take_line() { return lines_.take_line(); }
  /// Waits up to `timeout_ms` (less if a signal handler ran) for bytes and takes them in. False if the other side has
  /// gone, or sends a line of more than 1 GiB.
  bool receive(int timeout_ms);

  int descriptor() const { return descriptor_; }
  void close();

 private:
  /// Ends the connection. False.
  bool give_up();

  int descriptor_ = -1;
  LineBuffer lines_;
  std::string posted_;
  std::size_t n_posted_sent_ = 0;  // bytes at the front of posted_
  Stopwatch since_sent_;           // any of posted_
};

/// A socket file that takes connections of this user's processes alone.
class Listener {
 public:
  /// Makes the file; one that is there already is replaced. Throws InputError that names the path and the cause: one
  /// may have at most 107 bytes.
  explicit Listener(std::filesystem::path path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The next connection that waits, if it is of this user. Does not wait.
  std::optional<LineSocket> accept();
  int descriptor() const { return descriptor_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace podere
