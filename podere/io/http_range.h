// Bytes of what a web server holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace podere::io {

/// Reads ranges of bytes by HTTP, over a connection that stays. One for each thread.
class HttpRangeReader {
 public:
  /// `token` goes along with each request, as "Authorization: Bearer TOKEN".
  explicit HttpRangeReader(const std::string& token);
  ~HttpRangeReader();
  HttpRangeReader(HttpRangeReader&&) noexcept;

  /// Bytes [begin, begin + to.size()) of `url`, which is http://... Throws InputError with the URL and the cause:
  /// no server answers, the token is refused, or something else came than these bytes.
  void read(const std::string& url, std::uint64_t begin, std::span<std::byte> to);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace podere::io
