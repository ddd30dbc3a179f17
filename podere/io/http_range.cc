#include "podere/io/http_range.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cstring>

#include "podere/base/error.h"

namespace podere::io {
namespace {

constexpr long kPartialContent = 206;
constexpr long kUnauthorized = 401;
constexpr long kConnectSeconds = 10;
constexpr long kSilentSeconds = 60;
constexpr long kBufferBytes = 512L << 10;  // the most that libcurl takes

struct Target {
  std::span<std::byte> bytes;
  std::size_t n_taken = 0;
};

/// More than was asked for ends the transfer.
std::size_t take(const char* from, std::size_t, std::size_t n, void* at) {
  auto& target = *static_cast<Target*>(at);
  if (n > target.bytes.size() - target.n_taken) return 0;
  std::memcpy(target.bytes.data() + target.n_taken, from, n);
  target.n_taken += n;
  return n;
}

/// Once in a process, before any thread may use it.
void start_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw_error("libcurl does not start: {}", curl_easy_strerror(code));
}

}  // namespace

struct HttpRangeReader::Connection {
  explicit Connection(const std::string& token) {
    start_curl();
    handle = curl_easy_init();
    headers = curl_slist_append(nullptr, fmt::format("Authorization: Bearer {}", token).c_str());
    if (handle == nullptr || headers == nullptr) throw_error("libcurl has no memory");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kBufferBytes);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, cause);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
  }
  ~Connection() {
    curl_easy_cleanup(handle);
    curl_slist_free_all(headers);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  char cause[CURL_ERROR_SIZE] = "";
};

HttpRangeReader::HttpRangeReader(const std::string& token) : connection_(std::make_unique<Connection>(token)) {}
HttpRangeReader::~HttpRangeReader() = default;
HttpRangeReader::HttpRangeReader(HttpRangeReader&&) noexcept = default;

void HttpRangeReader::read(const std::string& url, std::uint64_t begin, std::span<std::byte> to) {
  if (to.empty()) return;
  CURL* const handle = connection_->handle;
  Target target{to};
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_RANGE, fmt::format("{}-{}", begin, begin + to.size() - 1).c_str());
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &target);
  connection_->cause[0] = '\0';
  const CURLcode code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status == kUnauthorized) throw_input_error("{}: the token is refused (HTTP status 401)", url);
  if (status != 0 && status != kPartialContent) {
    throw_input_error("{}: HTTP status {} in place of bytes {} to {}", url, status, begin, begin + to.size());
  }
  if (code == CURLE_WRITE_ERROR) throw_input_error("{}: more came than the {} bytes asked for", url, to.size());
  if (code != CURLE_OK) {
    throw_input_error("{}: {}", url, *connection_->cause != '\0' ? connection_->cause : curl_easy_strerror(code));
  }
  if (target.n_taken != to.size()) {
    throw_input_error("{}: {} bytes came, {} were asked for", url, target.n_taken, to.size());
  }
}

}  // namespace podere::io
