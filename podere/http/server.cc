#include "podere/http/server.h"

#include <civetweb.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <exception>

#include "podere/base/error.h"

namespace podere::http {
namespace {

constexpr std::size_t kMostValueBytes = 1000;
constexpr int kMostPort = 65535;

constexpr std::string_view kSafeHeaders =
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "X-Frame-Options: DENY\r\n"
    "Cache-Control: no-cache, private\r\n"
    "Connection: close\r\n";
constexpr const char* kPolicy = "Content-Security-Policy";

std::string header_of(const mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

Request request_of(const mg_connection* connection) {
  const mg_request_info& info = *mg_get_request_info(connection);
  constexpr std::string_view kBearer = "Bearer ";
  const std::string authorization = header_of(connection, "Authorization");
  return {.path = info.local_uri == nullptr ? "" : info.local_uri,
          .query = info.query_string == nullptr ? "" : info.query_string,
          .cookies = header_of(connection, "Cookie"),
          .bearer = authorization.starts_with(kBearer) ? authorization.substr(kBearer.size()) : "",
          .accept = header_of(connection, "Accept"),
          .if_none_match = header_of(connection, "If-None-Match")};
}

const char* status_words(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

void send(mg_connection* connection, const Answer& answer, bool with_body) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n{}", answer.status, status_words(answer.status), kSafeHeaders);
  bool has_policy = false;
  for (const auto& [name, value] : answer.headers) {
    head += fmt::format("{}: {}\r\n", name, value);
    has_policy = has_policy || name == kPolicy;
  }
  if (!has_policy) head += fmt::format("{}: default-src 'none'; frame-ancestors 'none'\r\n", kPolicy);
  if (answer.status != 304) {
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", answer.type, answer.body.size());
  }
  head += "\r\n";
  mg_write(connection, head.data(), head.size());
  if (with_body && answer.status != 304) mg_write(connection, answer.body.data(), answer.body.size());
}

/// A failure to make an answer is no reason to end the work that is shown.
Answer answer_of(const Server::Handler& handler, const Request& request) {
  try {
    return handler(request);
  } catch (const std::exception&) {
    return {.status = 500, .body = "this answer could not be made\n"};
  }
}

int begin_request(mg_connection* connection) {
  const mg_request_info& info = *mg_get_request_info(connection);
  const auto& handler = *static_cast<const Server::Handler*>(info.user_data);
  const std::string_view method = info.request_method;
  if (method != "GET" && method != "HEAD") {
    send(connection, {.status = 405, .body = "only GET and HEAD are answered\n", .headers = {{"Allow", "GET, HEAD"}}},
         true);
  } else {
    send(connection, answer_of(handler, request_of(connection)), method == "GET");
  }
  return 1;  // answered
}

mg_context* listen(const std::string& address, const Server::Options& options, const Server::Handler& handler) {
  const std::string n_threads = std::to_string(options.n_threads);
  const std::array settings = {"listening_ports",
                               address.c_str(),
                               "num_threads",
                               n_threads.c_str(),
                               "request_timeout_ms",
                               "5000",
                               static_cast<const char*>(nullptr)};
  mg_callbacks callbacks = {};
  callbacks.begin_request = begin_request;
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // of clients that went away, and ports
  void* const argument = const_cast<void*>(static_cast<const void*>(&handler));
  return mg_start(&callbacks, argument, const_cast<const char**>(settings.data()));
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

std::optional<std::string> Request::query_value(const char* name) const {
  std::array<char, kMostValueBytes + 1> value = {};
  const int n = mg_get_var(query.data(), query.size(), name, value.data(), value.size());
  if (n < 0) return std::nullopt;
  return std::string(value.data(), static_cast<std::size_t>(n));
}

std::optional<std::string> Request::cookie(const std::string& name) const {
  std::array<char, kMostValueBytes + 1> value = {};
  const int n = mg_get_cookie(cookies.c_str(), name.c_str(), value.data(), value.size());
  if (n < 0) return std::nullopt;
  return std::string(value.data(), static_cast<std::size_t>(n));
}

struct Server::Context {
  explicit Context(mg_context* started) : context(started) {}
  ~Context() { mg_stop(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  mg_context* context;
};

Server::Server(const Options& options, Handler handler) : handler_(std::move(handler)) {
  const auto [host, first] = parts_of(options.address);
  mg_context* context = nullptr;
  for (int i = 0; first >= 0 && i < options.n_ports && first + i <= kMostPort && context == nullptr; ++i) {
    context = listen(fmt::format("{}:{}", host, first + i), options, handler_);
  }
  if (context == nullptr && options.n_ports > 1) context = listen(host + ":0", options, handler_);
  if (context == nullptr) {
    throw_input_error("{} cannot be listened on: it is no address of this machine, or its port is in use",
                      options.address);
  }
  context_ = std::make_unique<Context>(context);
  std::array<mg_server_port, 1> ports = {};
  mg_get_server_ports(context, static_cast<int>(ports.size()), ports.data());
  port_ = ports[0].port;
  url_ = fmt::format("http://{}:{}", host, port_);
}

Server::~Server() = default;

std::string random_token() {
  std::array<unsigned char, 24> bytes = {};
  for (std::size_t n = 0; n < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + n, bytes.size() - n, 0);
    if (got > 0) n += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool is_same_secret(std::string_view given, std::string_view secret) {
  return given.size() == secret.size() && CRYPTO_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

}  // namespace podere::http
