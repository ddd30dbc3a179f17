// A web server for tests, which answers as the test says.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace podere {

/// The connection on which a request came. It ends with the answer, unless keep() says that more requests may come.
class HttpTestConnection {
 public:
  HttpTestConnection(int descriptor, const std::atomic<bool>& has_ended)
      : descriptor_(descriptor), has_ended_(has_ended) {}

  /// False if the client has gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  /// Says nothing for that long. False, at once, when the client goes or the server ends.
  bool pause(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      if (has_ended_ || has_gone(10)) return false;
    }
    return true;
  }
  void keep() { is_kept_ = true; }
  /// Sends an answer, and keeps the connection if its client sees where the answer ends: a client that used it
  /// again before it saw the end of it would fail.
  void answer(const std::string& bytes) {
    send(bytes);
    const auto end = bytes.find("\r\n\r\n");
    const std::string head = bytes.substr(0, end);
    if (end == std::string::npos || head.find("\r\nConnection: close") != std::string::npos) return;
    is_kept_ = head.find("\r\nContent-Length:") != std::string::npos && length_of_body(head) == bytes.size() - end - 4;
  }
  bool is_kept() const { return is_kept_; }

  /// The next request with its body, as Content-Length says; what is no HTTP, as far as it came. Empty if there is
  /// none.
  std::string receive() {
    is_kept_ = false;
    std::string request;
    std::size_t n_wanted = std::string::npos;
    while (request.size() < n_wanted) {
      if (!wait_for_bytes(20)) {
        if (has_ended_) return "";
        continue;
      }
      std::array<char, 4096> chunk;
      const ssize_t n = recv(descriptor_, chunk.data(), chunk.size(), 0);
      if (n <= 0) return n_wanted == std::string::npos ? request : "";
      request.append(chunk.data(), static_cast<std::size_t>(n));
      if (request.front() < 'A' || request.front() > 'Z') return request;
      const auto end = request.find("\r\n\r\n");
      if (end != std::string::npos) n_wanted = end + 4 + length_of_body(request.substr(0, end));
    }
    return request;
  }
  /// Waits for the client to take all, or what was sent might be thrown away.
  void finish() {
    shutdown(descriptor_, SHUT_WR);
    std::array<char, 4096> chunk;
    while (!has_ended_) {
      if (wait_for_bytes(20) && recv(descriptor_, chunk.data(), chunk.size(), 0) <= 0) return;
    }
  }

 private:
  bool wait_for_bytes(int timeout_ms) const {
    pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, timeout_ms) > 0;
  }
  bool has_gone(int timeout_ms) const {
    char byte = 0;
    return wait_for_bytes(timeout_ms) && recv(descriptor_, &byte, 1, MSG_PEEK) <= 0;
  }
  static std::size_t length_of_body(const std::string& head) {
    constexpr std::string_view kName = "\r\nContent-Length:";
    const char* const at = strcasestr(head.c_str(), kName.data());
    return at == nullptr ? 0 : std::strtoull(at + kName.size(), nullptr, 10);
  }

  const int descriptor_;
  const std::atomic<bool>& has_ended_;
  bool is_kept_ = false;
};

/// Answers requests on 127.0.0.1, each connection on a thread of its own.
class HttpTestServer {
 public:
  using Serve = std::function<void(const std::string& request, HttpTestConnection& connection)>;

  explicit HttpTestServer(Serve serve)
      : serve_(std::move(serve)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, any, length) != 0 || listen(listener_, SOMAXCONN) != 0) std::abort();
    getsockname(listener_, any, &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  /// Answers with the bytes that a function makes of the request, one request after the other.
  explicit HttpTestServer(std::function<std::string(const std::string& request)> answer)
      : HttpTestServer(Serve([answer = std::move(answer), one_at_a_time = std::make_shared<std::mutex>()](
                                 const std::string& request, HttpTestConnection& connection) {
          std::unique_lock lock(*one_at_a_time);
          const std::string bytes = answer(request);
          lock.unlock();
          connection.answer(bytes);
        })) {}
  ~HttpTestServer() {
    has_ended_ = true;
    thread_.join();
    for (auto& thread : connections_) thread.join();
    close(listener_);
  }
  HttpTestServer(const HttpTestServer&) = delete;
  HttpTestServer& operator=(const HttpTestServer&) = delete;

  int port() const { return port_; }
  std::string url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}/{}", port_, path); }
  int n_requests() const { return n_requests_; }
  int n_connections() const { return n_connections_; }

 private:
  void accept_all() {
    while (!has_ended_) {
      pollfd waiting = {.fd = listener_, .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) continue;
      ++n_connections_;
      connections_.emplace_back([this, descriptor] { serve_all(descriptor); });
    }
  }
  void serve_all(int descriptor) {
    HttpTestConnection connection(descriptor, has_ended_);
    do {
      const std::string request = connection.receive();
      if (request.empty()) break;
      ++n_requests_;
      serve_(request, connection);
    } while (connection.is_kept());
    connection.finish();
    close(descriptor);
  }

  const Serve serve_;
  const int listener_;
  int port_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::atomic<int> n_requests_ = 0;
  std::atomic<int> n_connections_ = 0;
  std::list<std::thread> connections_;  // of thread_, until that has ended
  std::thread thread_;
};

inline std::string http_answer(std::string_view status, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status, body.size(), body);
}

/// The first byte and the number of bytes that a request asks for.
inline std::optional<std::pair<std::size_t, std::size_t>> range_of(const std::string& request) {
  std::size_t first = 0;
  std::size_t last = 0;
  const auto at = request.find("Range: bytes=");
  if (at == std::string::npos || std::sscanf(request.c_str() + at, "Range: bytes=%zu-%zu", &first, &last) != 2)
    return std::nullopt;
  return std::pair(first, last - first + 1);
}

/// That range of `content`, to who has the token "secret"; less where there is not as much.
inline std::string http_range_answer(const std::string& request, std::string_view content) {
  if (request.find("Authorization: Bearer secret\r\n") == std::string::npos) return http_answer("401 Unauthorized", "");
  const auto range = range_of(request);
  if (!range) return http_answer("200 OK", content);
  if (range->first >= content.size()) return http_answer("416 Range Not Satisfiable", "");
  return http_answer("206 Partial Content", content.substr(range->first, range->second));
}

}  // namespace podere
