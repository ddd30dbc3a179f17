#include "podere/base/tcp.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "podere/base/error.h"

namespace podere {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Throws InputError for a host that has no address.
Addresses find_addresses(const std::string& host, int port, int type, int flags) {
  addrinfo wanted = {};
  wanted.ai_socktype = type;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failure != 0) throw_input_error("{} is no address: {}", host, gai_strerror(failure));
  return {found, &freeaddrinfo};
}

/// A socket for which `use` succeeds with one of the addresses; -1 and errno if it does with none.
template <typename Use>
int first_socket(const Addresses& addresses, const Use& use) {
  int cause = EADDRNOTAVAIL;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    const int descriptor = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (descriptor >= 0 && use(descriptor, *address)) return descriptor;
    cause = errno;
    if (descriptor >= 0) close(descriptor);
  }
  errno = cause;
  return -1;
}

bool connect_to(int descriptor, const addrinfo& address) {
  return ::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0;
}

std::string address_of(int descriptor) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  std::array<char, NI_MAXHOST> text = {};
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(descriptor, generic, &length) != 0 ||
      getnameinfo(generic, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    throw_error("the address of a connection is not known: {}", std::strerror(errno));
  }
  return text.data();
}

void set(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof value);
}

}  // namespace

TcpSocket::TcpSocket(int descriptor) : descriptor_(descriptor) {
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 20);  // seconds
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

TcpSocket::TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

TcpSocket::~TcpSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

TcpSocket TcpSocket::connect(const std::string& host, int port) {
  const int descriptor = first_socket(find_addresses(host, port, SOCK_STREAM, 0), connect_to);
  if (descriptor < 0) throw_input_error("{}:{} does not answer: {}", host, port, std::strerror(errno));
  return TcpSocket(descriptor);
}

void TcpSocket::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_error("the other side has ended the connection{}", n < 0 ? ", or is too slow" : "");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void TcpSocket::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_error("the other side has ended the connection");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void TcpSocket::limit_reading(int seconds) {
  const timeval limit = {.tv_sec = seconds, .tv_usec = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

void TcpSocket::shut_down() { shutdown(descriptor_, SHUT_RDWR); }

void TcpSocket::finish() {
  shutdown(descriptor_, SHUT_WR);
  std::array<std::byte, 65536> ignored;
  while (recv(descriptor_, ignored.data(), ignored.size(), 0) > 0) {
  }
}

std::string TcpSocket::local_address() const { return address_of(descriptor_); }

int TcpSocket::release() { return std::exchange(descriptor_, -1); }

std::string address_towards(const std::string& host) {
  constexpr int kAnyPort = 9;
  const int descriptor = first_socket(find_addresses(host, kAnyPort, SOCK_DGRAM, 0), connect_to);
  if (descriptor < 0) throw_input_error("{} cannot be reached: {}", host, std::strerror(errno));
  const TcpSocket closing(descriptor);
  return address_of(descriptor);
}

TcpServer::TcpServer(const std::string& address, std::size_t most_connections, Serve serve)
    : most_connections_(most_connections), serve_(std::move(serve)) {
  descriptor_ = first_socket(
      find_addresses(address, 0, SOCK_STREAM, AI_PASSIVE | AI_NUMERICHOST), [](int descriptor, const addrinfo& place) {
        return bind(descriptor, place.ai_addr, place.ai_addrlen) == 0 && listen(descriptor, SOMAXCONN) == 0;
      });
  if (descriptor_ < 0) throw_input_error("{} cannot be listened on: {}", address, std::strerror(errno));
  sockaddr_storage place = {};
  socklen_t length = sizeof place;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&place), &length);
  port_ = ntohs(place.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(place).sin6_port
                                            : reinterpret_cast<const sockaddr_in&>(place).sin_port);
  acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

TcpServer::~TcpServer() {
  acceptor_.request_stop();
  shutdown(descriptor_, SHUT_RDWR);  // wakes it
  acceptor_.join();
  for (Connection& connection : connections_) connection.socket.shut_down();
  connections_.clear();  // waits for their threads
  close(descriptor_);
}

void TcpServer::accept_all(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, 1000) <= 0) continue;
    const int descriptor = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // there may be no descriptors left
      continue;
    }
    TcpSocket socket(descriptor);
    connections_.remove_if([](const Connection& connection) { return connection.is_done.load(); });
    if (connections_.size() >= most_connections_) continue;
    Connection& connection = connections_.emplace_back(std::move(socket));
    try {
      connection.thread = std::jthread([this, &connection] {
        try {
          serve_(connection.socket);
        } catch (const std::exception&) {  // of this connection alone
        }
        connection.socket.shut_down();
        connection.is_done = true;
      });
    } catch (const std::system_error&) {  // there are no threads left
      connections_.pop_back();
    }
  }
}

}  // namespace podere
