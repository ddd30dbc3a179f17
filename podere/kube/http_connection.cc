#include "podere/kube/http_connection.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <exception>

#include "podere/base/clock.h"
#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/kube/api_error.h"

namespace podere::kube {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kKeepAliveSeconds = 30;
constexpr int kLongestPollMs = 1000;
// Of OpenSSL's x509_vfy.h, by CURLINFO_SSL_VERIFYRESULT.
constexpr long kNotYetValid = 9;
constexpr long kExpired = 10;

struct Url {
  std::string host;
  std::string port;
};

/// Of "https://host:port/path", as a kubeconfig may say it.
Url parts_of(const std::string& url) {
  const auto begin = url.find("://") + 3;
  const std::string authority = url.substr(begin, url.find('/', begin) - begin);
  const auto bracket = authority.find(']');  // of IPv6
  const auto colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) return {authority.substr(0, colon), authority.substr(colon + 1)};
  return {authority, url.starts_with("https:") ? "443" : "80"};
}

/// No proxy leads to it.
bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

curl_blob blob_of(const std::string& bytes) {
  return {.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_COPY};
}

void set_blob(CurlHandle& handle, CURLoption option, const std::string& bytes) {
  curl_blob blob = blob_of(bytes);
  handle.set(option, bytes.empty() ? nullptr : &blob);
}

}  // namespace

/// What the answer's bytes are given to, from within libcurl.
struct HttpConnection::Transfer {
  const std::function<void(const HttpHead& head, std::string_view bytes)>& take;
  CURL* handle;
  HttpHead head = {};
  Stopwatch since_byte = {};
  std::exception_ptr failure = nullptr;  // may not pass through libcurl

  static std::size_t on_bytes(const char* bytes, std::size_t, std::size_t n, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      transfer.since_byte.restart();
      if (transfer.head.status == 0) transfer.read_head();
      transfer.take(transfer.head, {bytes, n});
      return n;
    } catch (...) {
      transfer.failure = std::current_exception();
      return 0;
    }
  }

  void read_head() {
    long status = 0;
    curl_off_t retry_after = 0;
    const char* type = nullptr;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
    head.status = static_cast<int>(status);
    if (retry_after > 0) head.retry_after_seconds = static_cast<double>(retry_after);
    head.content_type = type == nullptr ? "" : type;
  }
};

HttpConnection::HttpConnection(const Access& access, const std::string& user_agent)
    : access_(access),
      user_agent_(user_agent),
      url_(access.server),
      multi_(nullptr, [](CURLM* multi) { curl_multi_cleanup(multi); }),
      connect_to_list_(nullptr, [](curl_slist* list) { curl_slist_free_all(list); }) {
  multi_.reset(curl_multi_init());
  if (multi_ == nullptr) throw_error("libcurl has no memory");
  handle_.set(CURLOPT_PROTOCOLS_STR, "http,https");
  handle_.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  handle_.set(CURLOPT_USERAGENT, user_agent_.c_str());
  handle_.set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  handle_.set(CURLOPT_TCP_KEEPALIVE, 1L);
  handle_.set(CURLOPT_TCP_KEEPIDLE, kKeepAliveSeconds);
  handle_.set(CURLOPT_TCP_KEEPINTVL, kKeepAliveSeconds);
  handle_.set(CURLOPT_WRITEFUNCTION, Transfer::on_bytes);
  const Url url = parts_of(access_.server);
  if (!access_.proxy.empty()) {
    handle_.set(CURLOPT_PROXY, access_.proxy.c_str());
  } else if (is_this_machine(url.host)) {
    handle_.set(CURLOPT_NOPROXY, "*");
  }
  set_blob(handle_, CURLOPT_CAINFO_BLOB, access_.authority);
  if (!access_.authority.empty()) handle_.set(CURLOPT_CAPATH, nullptr);
  if (access_.is_unchecked) {
    handle_.set(CURLOPT_SSL_VERIFYPEER, 0L);
    handle_.set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!access_.tls_server_name.empty()) {  // asked by that name, connected to the other
    connect_to_ = fmt::format("{}:{}:{}:{}", access_.tls_server_name, url.port, url.host, url.port);
    connect_to_list_.reset(curl_slist_append(nullptr, connect_to_.c_str()));
    handle_.set(CURLOPT_CONNECT_TO, connect_to_list_.get());
    const auto host = url_.find("://") + 3;
    url_.replace(host, std::min(url_.find('/', host), url_.size()) - host,
                 fmt::format("{}:{}", access_.tls_server_name, url.port));
  }
}

HttpConnection::~HttpConnection() = default;

void HttpConnection::prepare(const HttpRequest& request, const Credentials& credentials) {
  handle_.set(CURLOPT_URL, (url_ + request.target).c_str());
  std::vector<std::string> headers = access_.impersonation;
  headers.emplace_back("Accept: application/json");
  if (!credentials.token.empty()) headers.push_back("Authorization: Bearer " + credentials.token);
  if (request.method == "GET") {
    handle_.set(CURLOPT_CUSTOMREQUEST, nullptr);
    handle_.set(CURLOPT_HTTPGET, 1L);
  } else {
    handle_.set(CURLOPT_POST, 1L);
    handle_.set(CURLOPT_POSTFIELDS, request.body.c_str());
    handle_.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    handle_.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    headers.push_back("Content-Type: " + request.content_type);
    headers.emplace_back("Expect:");  // no round trip before large bodies
  }
  handle_.set_headers(headers);
  handle_.set(CURLOPT_TIMEOUT_MS, std::lround(request.timeout_seconds * 1000));
  if (presented_.certificate != credentials.certificate || presented_.key != credentials.key) {
    set_blob(handle_, CURLOPT_SSLCERT_BLOB, credentials.certificate);
    set_blob(handle_, CURLOPT_SSLKEY_BLOB, credentials.key);
    presented_ = credentials;
  }
}

HttpHead HttpConnection::perform(const HttpRequest& request, const Credentials& credentials,
                                 const std::function<void(const HttpHead&, std::string_view)>& take,
                                 const std::stop_token& stop) {
  Transfer transfer{.take = take, .handle = handle_.get()};
  prepare(request, credentials);
  handle_.set(CURLOPT_WRITEDATA, &transfer);
  handle_.forget_cause();
  run(transfer, request, stop);
  if (transfer.head.status == 0) transfer.read_head();
  return transfer.head;
}

void HttpConnection::run(Transfer& transfer, const HttpRequest& request, const std::stop_token& stop) {
  curl_multi_add_handle(multi_.get(), handle_.get());
  const auto remove = [this](CURL* handle) { curl_multi_remove_handle(multi_.get(), handle); };
  const std::unique_ptr<CURL, decltype(remove)> added(handle_.get(), remove);
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
  while (true) {
    if (stop.stop_requested()) throw Interrupted();
    int n_running = 0;
    if (const CURLMcode code = curl_multi_perform(multi_.get(), &n_running); code != CURLM_OK) {
      throw_error("libcurl: {}", curl_multi_strerror(code));
    }
    if (transfer.failure) std::rethrow_exception(transfer.failure);
    if (n_running == 0) break;
    if (request.silence_seconds > 0 && transfer.since_byte.seconds() > request.silence_seconds) {
      throw SilenceError(fmt::format("{} {}{}: nothing came for {:.0f} s", request.method, access_.server,
                                     request.target.substr(0, request.target.find('?')), request.silence_seconds));
    }
    const double patience_ms = request.silence_seconds > 0 ? request.silence_seconds * 1000 / 4 : kLongestPollMs;
    curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(std::min<double>(patience_ms, kLongestPollMs)), nullptr);
  }
  int n_left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_.get(), &n_left);
  const CURLcode code = message == nullptr ? CURLE_OK : message->data.result;
  if (code != CURLE_OK) fail(request, code);
}

void HttpConnection::fail(const HttpRequest& request, CURLcode code) {
  const std::string asked =
      fmt::format("{} {}{}", request.method, access_.server, request.target.substr(0, request.target.find('?')));
  std::string cause = printable_line(handle_.cause(code), 300);
  long verdict = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_SSL_VERIFYRESULT, &verdict);
  if (code == CURLE_SSL_CERTPROBLEM) {
    throw_input_error("{}: the client certificate or key of {} cannot be used ({})", asked, access_.origin, cause);
  }
  const auto line = [&]() -> std::string {
    switch (code) {
      case CURLE_COULDNT_CONNECT:
      case CURLE_COULDNT_RESOLVE_HOST:
        return fmt::format("no server answers ({}); check that the cluster runs, and that {} names its server", cause,
                           access_.origin);
      case CURLE_OPERATION_TIMEDOUT:
        return fmt::format("too slow ({})", cause);
      case CURLE_PEER_FAILED_VERIFICATION:
        if (verdict == kExpired || verdict == kNotYetValid) {
          return fmt::format("the server's certificate {} ({}); ask the cluster's administrator to renew it",
                             verdict == kExpired ? "has expired" : "is not valid yet", cause);
        }
        return fmt::format("the server's certificate does not fit to {} ({}): it is another server, or the file is old",
                           access_.origin, cause);
      case CURLE_SSL_CONNECT_ERROR:
        return fmt::format("no TLS with the server ({}); check that {} names the API server", cause, access_.origin);
      default:
        return cause;
    }
  }();
  throw ConnectionError(asked + ": " + line);
}

}  // namespace podere::kube
