// A web server for tests, which answers as it is told.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace podere::io {

/// Answers each request on 127.0.0.1 with the bytes that a function makes of it, and ends the connection.
class HttpTestServer {
 public:
  explicit HttpTestServer(std::function<std::string(const std::string& request)> answer)
      : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, any, length) != 0 || listen(listener_, SOMAXCONN) != 0) std::abort();
    getsockname(listener_, any, &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpTestServer() {
    has_ended_ = true;
    thread_.join();
    close(listener_);
  }
  HttpTestServer(const HttpTestServer&) = delete;
  HttpTestServer& operator=(const HttpTestServer&) = delete;

  std::string url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}/{}", port_, path); }
  int n_requests() const { return n_requests_; }

 private:
  void serve() {
    while (!has_ended_) {
      pollfd waiting = {.fd = listener_, .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      std::string request;
      std::array<char, 4096> chunk;
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = recv(connection, chunk.data(), chunk.size(), 0);
        if (n <= 0) break;
        request.append(chunk.data(), static_cast<std::size_t>(n));
      }
      ++n_requests_;
      const std::string answer = answer_(request);
      for (std::size_t begin = 0; begin < answer.size();) {
        const ssize_t n = send(connection, answer.data() + begin, answer.size() - begin, MSG_NOSIGNAL);
        if (n <= 0) break;
        begin += static_cast<std::size_t>(n);
      }
      shutdown(connection, SHUT_WR);
      while (recv(connection, chunk.data(), chunk.size(), 0) > 0) {  // or what was sent might be thrown away
      }
      close(connection);
    }
  }

  std::function<std::string(const std::string&)> answer_;
  const int listener_;
  int port_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::atomic<int> n_requests_ = 0;
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

}  // namespace podere::io
