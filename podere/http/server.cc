#include "podere/http/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>

#include "podere/base/error.h"

namespace podere::http {
namespace {

constexpr int kMostPort = 65535;
constexpr unsigned kMostConnections = 500;
constexpr unsigned kIdleSeconds = 15;  // then a connection ends
constexpr const char* kPolicy = "Content-Security-Policy";

constexpr std::array<std::pair<const char*, const char*>, 6> kSafeHeaders = {{
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
    {"Cache-Control", "no-cache, private"},
}};

std::string header_of(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> values_of(MHD_Connection* connection, MHD_ValueKind kind) {
  std::map<std::string, std::string> values;
  const auto add = [](void* all, MHD_ValueKind, const char* name, const char* value) {
    static_cast<std::map<std::string, std::string>*>(all)->try_emplace(name, value == nullptr ? "" : value);
    return MHD_YES;
  };
  MHD_get_connection_values(connection, kind, add, &values);
  return values;
}

Request request_of(MHD_Connection* connection, const char* path) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string authorization = header_of(connection, "Authorization");
  return {.path = path,
          .query = values_of(connection, MHD_GET_ARGUMENT_KIND),
          .cookies = values_of(connection, MHD_COOKIE_KIND),
          .bearer = authorization.starts_with(kBearer) ? authorization.substr(kBearer.size()) : "",
          .accept = header_of(connection, "Accept"),
          .if_none_match = header_of(connection, "If-None-Match"),
          .fetch_site = header_of(connection, "Sec-Fetch-Site")};
}

/// A failure to make an answer is no reason to end the work that is shown.
Answer answer_of(const Server::Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception&) {
    return {.status = 500, .body = "this answer could not be made\n"};
  }
}

MHD_Result send(MHD_Connection* connection, const Answer& answer) {
  const std::unique_ptr<MHD_Response, void (*)(MHD_Response*)> response(
      MHD_create_response_from_buffer(answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY),
      MHD_destroy_response);
  if (!response) return MHD_NO;  // no memory: the connection ends
  for (const auto& [name, value] : kSafeHeaders) MHD_add_response_header(response.get(), name, value);
  bool has_policy = false;
  for (const auto& [name, value] : answer.headers) {
    MHD_add_response_header(response.get(), name.c_str(), value.c_str());
    has_policy = has_policy || name == kPolicy;
  }
  if (!has_policy) MHD_add_response_header(response.get(), kPolicy, "default-src 'none'; frame-ancestors 'none'");
  MHD_add_response_header(response.get(), "Content-Type", answer.type.c_str());
  return MHD_queue_response(connection, static_cast<unsigned>(answer.status), response.get());
}

/// Called by the library for each request; what a client sends behind its head is not read.
MHD_Result take(void* handler, MHD_Connection* connection, const char* path, const char* method, const char*,
                const char*, std::size_t*, void**) {
  const std::string_view asked = method;
  if (asked != MHD_HTTP_METHOD_GET && asked != MHD_HTTP_METHOD_HEAD) {
    return send(connection,
                {.status = 405, .body = "only GET and HEAD are answered\n", .headers = {{"Allow", "GET, HEAD"}}});
  }
  return send(connection, answer_of(*static_cast<const Server::Handler*>(handler), request_of(connection, path)));
}

/// An address of the Internet, of either version.
struct Place {
  sockaddr_storage address = {};
  bool is_v6 = false;

  static std::optional<Place> of(const std::string& host, int port) {
    Place place;
    const auto network_port = htons(static_cast<std::uint16_t>(port));
    auto& v4 = reinterpret_cast<sockaddr_in&>(place.address);
    if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
      v4.sin_family = AF_INET;
      v4.sin_port = network_port;
      return place;
    }
    if (!host.starts_with('[') || !host.ends_with(']')) return std::nullopt;
    auto& v6 = reinterpret_cast<sockaddr_in6&>(place.address);
    if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr) != 1) return std::nullopt;
    v6.sin6_family = AF_INET6;
    v6.sin6_port = network_port;
    place.is_v6 = true;
    return place;
  }
};

/// A socket that listens; -1, with the cause in errno, where that cannot be.
int listening_socket(const Place& place) {
  const int family = place.is_v6 ? AF_INET6 : AF_INET;
  const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // not held up by connections that have ended
  const socklen_t size = place.is_v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&place.address), size) == 0 &&
      ::listen(descriptor, SOMAXCONN) == 0) {
    return descriptor;
  }
  const int cause = errno;
  close(descriptor);
  errno = cause;
  return -1;
}

/// Takes the socket over. Null where there is no memory.
MHD_Daemon* start(int socket, bool is_v6, int n_threads, const Server::Handler& handler) {
  unsigned flags = static_cast<unsigned>(MHD_USE_AUTO_INTERNAL_THREAD) | static_cast<unsigned>(MHD_USE_ITC);
  if (is_v6) flags |= static_cast<unsigned>(MHD_USE_IPv6);
  if (n_threads == 0) flags |= static_cast<unsigned>(MHD_USE_THREAD_PER_CONNECTION);
  std::array<MHD_OptionItem, 5> options = {{
      {MHD_OPTION_LISTEN_SOCKET, socket, nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, kMostConnections, nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, nullptr},
      {n_threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, n_threads, nullptr},
      {MHD_OPTION_END, 0, nullptr},
  }};
  void* const argument = const_cast<void*>(static_cast<const void*>(&handler));
  return MHD_start_daemon(flags, 0, nullptr, nullptr, take, argument, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
}

int port_of(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string words_of(int cause) {
  if (cause == EADDRINUSE) return "its port is in use";
  if (cause == EADDRNOTAVAIL) return "it is no address of this machine";
  return std::strerror(cause);
}

/// "127.0.0.1:8650" in its parts; port -1: there is none.
std::pair<std::string, int> parts_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::size_t begin = colon == std::string::npos ? address.size() : colon + 1;
  int port = -1;
  const char* const end = address.data() + address.size();
  const auto [last, error] = std::from_chars(address.data() + begin, end, port);
  if (error != std::errc() || last != end || port < 0 || port > kMostPort) port = -1;
  return {address.substr(0, colon), port};
}

}  // namespace

struct Server::Daemon {
  explicit Daemon(MHD_Daemon* started) : daemon(started) {}
  ~Daemon() { MHD_stop_daemon(daemon); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  MHD_Daemon* daemon;
};

Server::Server(const Options& options, Handler handler) : handler_(std::move(handler)) {
  const auto [host, first] = parts_of(options.address);
  if (first < 0 || !Place::of(host, first)) throw_input_error("{} is no address with a port", options.address);
  std::vector<int> ports;
  for (int i = 0; i < options.n_ports && first + i <= kMostPort; ++i) ports.push_back(first + i);
  if (options.n_ports > 1) ports.push_back(0);
  int socket = -1;
  for (const int port : ports) {
    socket = listening_socket(*Place::of(host, port));
    if (socket >= 0 || errno != EADDRINUSE) break;
  }
  if (socket < 0) throw_input_error("{} cannot be listened on: {}", options.address, words_of(errno));
  port_ = port_of(socket);
  url_ = fmt::format("http://{}:{}", host, port_);
  MHD_Daemon* const daemon = start(socket, host.starts_with('['), options.n_threads, handler_);
  if (daemon == nullptr) {
    close(socket);
    throw_error("the HTTP server could not be started");
  }
  daemon_ = std::make_unique<Daemon>(daemon);
}

Server::~Server() = default;

}  // namespace podere::http
