#include "podere/io/http_range.h"

#include <fmt/format.h>

#include <cstring>

#include "podere/base/curl.h"
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
  std::size_t n_received = 0;
};

/// More than was asked for ends the transfer.
std::size_t take(const char* from, std::size_t, std::size_t n, void* at) {
  auto& target = *static_cast<Target*>(at);
  if (n > target.bytes.size() - target.n_received) return 0;
  std::memcpy(target.bytes.data() + target.n_received, from, n);
  target.n_received += n;
  return n;
}

}  // namespace

struct HttpRangeReader::Connection {
  explicit Connection(const std::string& token) {
    handle.set_headers({"Authorization: Bearer " + token});
    handle.set(CURLOPT_PROTOCOLS_STR, "http");
    handle.set(CURLOPT_NOPROXY, "*");
    handle.set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    handle.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    handle.set(CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    handle.set(CURLOPT_BUFFERSIZE, kBufferBytes);
    handle.set(CURLOPT_WRITEFUNCTION, take);
  }

  CurlHandle handle;
};

HttpRangeReader::HttpRangeReader(const std::string& token) : connection_(std::make_unique<Connection>(token)) {}
HttpRangeReader::~HttpRangeReader() = default;
HttpRangeReader::HttpRangeReader(HttpRangeReader&&) noexcept = default;

void HttpRangeReader::read(const std::string& url, std::uint64_t begin, std::span<std::byte> to) {
  if (to.empty()) return;
  CurlHandle& handle = connection_->handle;
  Target target{to};
  handle.set(CURLOPT_URL, url.c_str());
  handle.set(CURLOPT_RANGE, fmt::format("{}-{}", begin, begin + to.size() - 1).c_str());
  handle.set(CURLOPT_WRITEDATA, &target);
  handle.forget_cause();
  const CURLcode code = curl_easy_perform(handle.get());
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status == kUnauthorized) throw_input_error("{}: the token is refused (HTTP status 401)", url);
  if (status != 0 && status != kPartialContent) {
    throw_input_error("{}: HTTP status {} in place of bytes {} to {}", url, status, begin, begin + to.size());
  }
  if (code == CURLE_WRITE_ERROR) throw_input_error("{}: more came than the {} bytes asked for", url, to.size());
  if (code != CURLE_OK) throw_input_error("{}: {}", url, handle.cause(code));
  if (target.n_received != to.size()) {
    throw_input_error("{}: {} bytes came, {} were asked for", url, target.n_received, to.size());
  }
}

}  // namespace podere::io
