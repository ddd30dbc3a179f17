#include "podere/base/local_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "podere/base/error.h"

namespace podere {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{1} << 30;
constexpr time_t kSendSeconds = 10;

/// Nothing where the path is too long for a socket.
std::optional<sockaddr_un> address_of(const std::filesystem::path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

int new_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

void limit_sending(int descriptor) {
  const timeval limit = {.tv_sec = kSendSeconds, .tv_usec = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool is_of_this_user(int descriptor) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

}  // namespace

LineSocket::LineSocket(LineSocket&& other) noexcept { *this = std::move(other); }

LineSocket& LineSocket::operator=(LineSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  lines_ = std::move(other.lines_);
  posted_ = std::move(other.posted_);
  n_posted_sent_ = other.n_posted_sent_;
  since_sent_ = other.since_sent_;
  return *this;
}

void LineSocket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::optional<LineSocket> LineSocket::connect(const std::filesystem::path& path) {
  const auto address = address_of(path);
  LineSocket connection(new_socket());
  if (!address || ::connect(connection.descriptor_, generic(*address), sizeof *address) != 0) return std::nullopt;
  limit_sending(connection.descriptor_);
  return connection;
}

bool LineSocket::send_line(std::string_view text) {
  const std::string line = std::string(text) + '\n';
  std::size_t n_sent = 0;
  while (n_sent < line.size()) {
    const ssize_t n = ::send(descriptor_, line.data() + n_sent, line.size() - n_sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return give_up();
    n_sent += static_cast<std::size_t>(n);
  }
  return true;
}

void LineSocket::post_line(std::string_view text) {
  if (n_unsent_bytes() == 0) since_sent_.restart();
  posted_ += text;
  posted_ += '\n';
  flush();
}

bool LineSocket::flush() {
  while (n_unsent_bytes() > 0) {
    const ssize_t n =
        ::send(descriptor_, posted_.data() + n_posted_sent_, n_unsent_bytes(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return give_up();
    n_posted_sent_ += static_cast<std::size_t>(n);
    since_sent_.restart();
  }
  if (n_posted_sent_ > posted_.size() / 2) {  // so that each byte is moved once, on average
    posted_.erase(0, n_posted_sent_);
    n_posted_sent_ = 0;
  }
  return n_unsent_bytes() == 0 || since_sent_.seconds() < kSendSeconds || give_up();
}

bool LineSocket::give_up() {
  posted_.clear();
  n_posted_sent_ = 0;
  shutdown(descriptor_, SHUT_RDWR);  // half a line may have gone
  return false;
}

bool LineSocket::receive(int timeout_ms) {
  pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return true;
  std::array<char, 65536> chunk;
  const ssize_t n = recv(descriptor_, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0 || lines_.size() > kMostLineBytes) return false;
  lines_.append({chunk.data(), static_cast<std::size_t>(n)});
  return true;
}

Listener::Listener(std::filesystem::path path) : path_(std::move(path)) {
  const auto address = address_of(path_);
  if (!address) throw_input_error("{}: too long for the name of a socket, which has at most 107 bytes", path_.string());
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  descriptor_ = new_socket();
  const mode_t mask = umask(S_IRWXG | S_IRWXO);
  const bool is_bound = bind(descriptor_, generic(*address), sizeof *address) == 0;
  const int cause = errno;
  umask(mask);
  if (is_bound && listen(descriptor_, SOMAXCONN) == 0) return;
  ::close(descriptor_);
  throw_input_error("{}: {}", path_.string(), std::strerror(is_bound ? errno : cause));
}

Listener::~Listener() {
  ::close(descriptor_);
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::optional<LineSocket> Listener::accept() {
  pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, 0) <= 0) return std::nullopt;
  LineSocket connection(accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.descriptor() < 0 || !is_of_this_user(connection.descriptor())) return std::nullopt;
  limit_sending(connection.descriptor());
  return connection;
}

}  // namespace podere
