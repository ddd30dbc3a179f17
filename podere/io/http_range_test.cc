#include "podere/io/http_range.h"

#include <gtest/gtest.h>

#include <vector>

#include "podere/base/error.h"
#include "podere/base/http_test_server.h"

namespace podere::io {
namespace {

constexpr std::string_view kContent = "0123456789abcdefghij";

std::string read_range(HttpRangeReader& reader, const std::string& url, std::uint64_t begin, std::size_t n_bytes) {
  std::string bytes(n_bytes, '?');
  reader.read(url, begin, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// The message about 10 bytes asked for, after the URL.
std::string range_refusal(const std::string& url, const std::string& token = "secret") {
  HttpRangeReader reader(token);
  try {
    read_range(reader, url, 5, 10);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(url + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message.substr(std::min(message.size(), url.size() + 2));
  }
  return "none";
}

std::string refusal_of_answer(const std::string& answer) {
  const HttpTestServer server([&](const std::string&) { return answer; });
  return range_refusal(server.url("x"));
}

TEST(HttpRange, GivesTheBytesThatWereAskedFor) {
  const HttpTestServer server([](const std::string& request) { return http_range_answer(request, kContent); });
  HttpRangeReader reader("secret");
  EXPECT_EQ(read_range(reader, server.url("x"), 5, 10), "56789abcde");
  EXPECT_EQ(read_range(reader, server.url("x"), 19, 1), "j");
  EXPECT_EQ(read_range(reader, server.url("x"), 7, 0), "");
  EXPECT_EQ(server.n_requests(), 2);
}

TEST(HttpRange, AsksWithTheTokenAndIsRefusedWithAnother) {
  const HttpTestServer server([](const std::string& request) { return http_range_answer(request, kContent); });
  EXPECT_EQ(range_refusal(server.url("x"), "guess"), "the token is refused (HTTP status 401)");
  EXPECT_EQ(range_refusal(server.url("x")), "none");
}

TEST(HttpRange, RefusesTheWholeInPlaceOfARange) {
  EXPECT_EQ(refusal_of_answer(http_answer("200 OK", kContent)), "HTTP status 200 in place of bytes 5 to 15");
  EXPECT_EQ(refusal_of_answer(http_answer("200 OK", kContent.substr(5, 10))),
            "HTTP status 200 in place of bytes 5 to 15");
}

TEST(HttpRange, ReportsTheStatusOfWhatIsNotThere) {
  EXPECT_EQ(refusal_of_answer(http_answer("404 Not Found", "")), "HTTP status 404 in place of bytes 5 to 15");
  EXPECT_EQ(refusal_of_answer("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
            "HTTP status 302 in place of bytes 5 to 15");
}

TEST(HttpRange, RefusesLessAndMoreThanWasAskedFor) {
  EXPECT_EQ(refusal_of_answer(http_answer("206 Partial Content", "123")), "3 bytes came, 10 were asked for");
  EXPECT_EQ(refusal_of_answer(http_answer("206 Partial Content", "")), "0 bytes came, 10 were asked for");
  EXPECT_EQ(refusal_of_answer(http_answer("206 Partial Content", kContent)), "more came than the 10 bytes asked for");
}

TEST(HttpRange, ReportsAServerThatGoesInTheMiddle) {
  const std::string half = refusal_of_answer("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n1234");
  EXPECT_NE(half.find("6 bytes remaining"), std::string::npos) << half;
  EXPECT_EQ(refusal_of_answer("").substr(0, 11), "Empty reply");
}

TEST(HttpRange, RefusesWhatIsNoHttp) {
  EXPECT_NE(refusal_of_answer("220 ready\r\n"), "none");
  EXPECT_NE(range_refusal("file:///etc/passwd"), "none");
  EXPECT_NE(range_refusal("ftp://127.0.0.1:1/x"), "none");
  EXPECT_NE(range_refusal("no url"), "none");
  EXPECT_NE(range_refusal(""), "none");
}

TEST(HttpRange, ReportsThatNoServerListens) {
  std::string url;
  {
    const HttpTestServer server([](const std::string&) { return ""; });
    url = server.url("x");
  }
  const std::string message = range_refusal(url);
  EXPECT_NE(message.find("onnect"), std::string::npos) << message;
}

TEST(HttpRange, ReadsOnAfterAFailure) {
  int n = 0;
  const HttpTestServer server(
      [&](const std::string& request) { return ++n == 1 ? "" : http_range_answer(request, kContent); });
  HttpRangeReader reader("secret");
  EXPECT_THROW(read_range(reader, server.url("x"), 0, 3), InputError);
  EXPECT_EQ(read_range(reader, server.url("x"), 0, 3), "012");
}

}  // namespace
}  // namespace podere::io
