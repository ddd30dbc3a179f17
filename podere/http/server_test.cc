#include "podere/http/server.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "podere/base/error.h"
#include "podere/http/get_for_tests.h"

namespace podere::http {
namespace {

TEST(HttpServer, RequestsReachTheHandler) {
  const Server server({.address = "127.0.0.1:0"}, [](const Request& request) {
    const auto value = [](const auto& values, const char* name) {
      return values.contains(name) ? values.at(name) : std::string("-");
    };
    return Answer{.body = request.path + "|" + value(request.query, "a") + "|" + value(request.cookies, "podere") +
                          "|" + request.bearer};
  });
  EXPECT_EQ(get(server.url() + "/api/x?a=1%202&b=3").body, "/api/x|1 2|-|");
  EXPECT_EQ(get(server.url() + "/y", {"Cookie: other=1; podere=abc", "Authorization: Bearer t0"}).body, "/y|-|abc|t0");
  EXPECT_EQ(get(server.url() + "/y?a&a=2").body, "/y||-|");
}

TEST(HttpServer, AnswersAreSafeForBrowsers) {
  const Server server({.address = "127.0.0.1:0"}, [](const Request& request) {
    if (request.path == "/own") return Answer{.headers = {{"Content-Security-Policy", "default-src 'self'"}}};
    return Answer{.body = "x"};
  });
  const Got got = get(server.url() + "/");
  for (const char* header :
       {"X-Content-Type-Options: nosniff", "Cross-Origin-Resource-Policy: same-origin", "X-Frame-Options: DENY",
        "Referrer-Policy: no-referrer", "Content-Security-Policy: default-src 'none'"}) {
    EXPECT_NE(got.head.find(header), std::string::npos) << header;
  }
  EXPECT_EQ(got.head.find("Access-Control-Allow-Origin"), std::string::npos);
  const Got own = get(server.url() + "/own");
  EXPECT_EQ(own.head.find("default-src 'none'"), std::string::npos);
}

TEST(HttpServer, OnlyReads) {
  int n_handled = 0;
  const Server server({.address = "127.0.0.1:0"}, [&](const Request&) {
    ++n_handled;
    return Answer{.body = "body"};
  });
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"}) {
    EXPECT_EQ(get(server.url() + "/", {}, method).status, 405) << method;
  }
  EXPECT_EQ(n_handled, 0);
  const Got head = get(server.url() + "/", {}, "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.body.empty());
  EXPECT_NE(head.head.find("Content-Length: 4"), std::string::npos);
}

TEST(HttpServer, FailuresKeepTheirWords) {
  const Server server({.address = "127.0.0.1:0"}, [](const Request&) -> Answer { throw_error("a secret"); });
  const Got got = get(server.url() + "/");
  EXPECT_EQ(got.status, 500);
  EXPECT_EQ(got.body.find("secret"), std::string::npos);
}

TEST(HttpServer, WithAThreadForEachClientASlowAnswerDelaysNoOther) {
  std::promise<void> may_end;
  const Server server({.address = "127.0.0.1:0", .n_threads = 0}, [&](const Request& request) {
    if (request.path == "/slow") may_end.get_future().wait();
    return Answer{.body = request.path};
  });
  auto slow = std::async(std::launch::async, [&] { return get(server.url() + "/slow").body; });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get(server.url() + "/quick").body, "/quick");
  may_end.set_value();
  EXPECT_EQ(slow.get(), "/slow");
}

TEST(HttpServer, TakesThePortAfterOneInUse) {
  const auto handler = [](const Request&) { return Answer{}; };
  const Server first({.address = "127.0.0.1:0"}, handler);
  const std::string address = first.url().substr(std::string("http://").size());
  EXPECT_THROW(Server({.address = address}, handler), InputError);
  const Server second({.address = address, .n_ports = 3}, handler);
  EXPECT_NE(second.port(), first.port());
  EXPECT_EQ(get(second.url() + "/").status, 200);
}

TEST(HttpServer, RefusesWhatIsNoAddress) {
  const auto handler = [](const Request&) { return Answer{}; };
  for (const char* address : {"", "nowhere", "127.0.0.1:99999", "127.0.0.1:x", "192.0.2.1:80", "127.0.0.1:"}) {
    EXPECT_THROW(Server({.address = address}, handler), InputError) << address;
  }
}

TEST(HttpServer, HeadsThatAreTooLongEndTheirConnectionAlone) {
  const Server server({.address = "127.0.0.1:0"}, [](const Request&) { return Answer{.body = "x"}; });
  for (int i = 0; i < 3; ++i) {
    const long status = get(server.url() + "/", {std::string(100000, 'h') + ": 1"}).status;
    EXPECT_TRUE(status == 413 || status == 431) << status;
  }
  EXPECT_EQ(get(server.url() + "/").body, "x");
}

}  // namespace
}  // namespace podere::http
