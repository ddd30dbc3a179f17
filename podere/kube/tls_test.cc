// Servers of TLS: the program openssl, which answers "GET /name" with the file of that name.
#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/kube/client.h"
#include "podere/kube/test_api.h"
#include "podere/kube/test_certificates.h"

namespace podere::kube {
namespace {

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    std::ofstream(certificates.path("version")) << json_answer({{"gitVersion", "v1"}});
    certificates.make("server", {.alternative_name = "IP:127.0.0.1,DNS:kubernetes"});
  }

  /// Begins to serve with a certificate of this name.
  void serve(const std::string& name, std::vector<std::string> more = {}) {
    CommandLine command{{"sh", "-c", "cd \"$0\" && exec \"$@\"", certificates.folder(), "openssl", "s_server",
                         "-accept", "127.0.0.1:0", "-HTTP", "-cert", name + ".crt", "-key", name + ".key"}};
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    server_.emplace(command);
    std::string message;
    while (const auto line = server_->next_line(20000)) {
      message += line->text;
      if (!line->text.starts_with("ACCEPT 127.0.0.1:")) continue;
      access.server = "https://" + line->text.substr(7);
      return;
    }
    FAIL() << message;
  }
  std::string refusal() const {
    Client client(access);
    try {
      check_access(client);
    } catch (const InputError& error) {
      EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
      return error.what();
    }
    return "none";
  }
  static void expect_in(const std::string& message, const std::string& text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }

  TestCertificates certificates;
  Access access{.authority = certificates.pem("ca.crt"),
                .origin = "context 'test' of a test",
                .credentials = make_credentials(Credentials{})};

 private:
  std::optional<Subprocess> server_;
};

TEST_F(TlsTest, TakesAServerThatItsAuthoritySigned) {
  serve("server");
  EXPECT_EQ(refusal(), "none");
}

TEST_F(TlsTest, RefusesAServerThatAnotherAuthoritySigned) {
  serve("server");
  const TestCertificates others;
  access.authority = others.pem("ca.crt");
  expect_in(refusal(),
            "/version: the server's certificate does not fit to context 'test' of a test (SSL certificate "
            "problem: ");
  access.authority.clear();
  expect_in(refusal(), "the server's certificate does not fit");
  access.is_unchecked = true;
  EXPECT_EQ(refusal(), "none") << "unless that is wanted";
}

TEST_F(TlsTest, RefusesAServerWhoseCertificateHasExpired) {
  certificates.make("old", {.alternative_name = "IP:127.0.0.1", .begin = "20200101000000Z", .end = "20210101000000Z"});
  serve("old");
  expect_in(refusal(), "the server's certificate has expired (");
}

TEST_F(TlsTest, RefusesAServerOfAnotherNameUnlessItIsExpected) {
  certificates.make("named", {.alternative_name = "DNS:kubernetes"});
  serve("named");
  expect_in(refusal(), "the server's certificate does not fit");
  access.tls_server_name = "kubernetes";
  EXPECT_EQ(refusal(), "none");
  access.tls_server_name = "another";
  expect_in(refusal(), "the server's certificate does not fit");
}

TEST_F(TlsTest, ShowsItsClientCertificate) {
  serve("server", {"-CAfile", "ca.crt", "-Verify", "1", "-verify_return_error"});
  EXPECT_NE(refusal(), "none") << "which is asked for";
  certificates.make("me", {.subject = "/CN=me"});
  access.credentials = make_credentials({.certificate = certificates.pem("me.crt"), .key = certificates.pem("me.key")});
  EXPECT_EQ(refusal(), "none");
  certificates.make("other", {.subject = "/CN=other"});
  access.credentials =
      make_credentials({.certificate = certificates.pem("me.crt"), .key = certificates.pem("other.key")});
  expect_in(refusal(), "the client certificate or key of context 'test' of a test cannot be used (");
}

TEST_F(TlsTest, ShowsTheCertificateThatHoldsByNow) {
  serve("server", {"-CAfile", "ca.crt", "-Verify", "1", "-verify_return_error"});
  certificates.make("me", {.subject = "/CN=me"});
  certificates.make("old", {.subject = "/CN=me", .begin = "20200101000000Z", .end = "20210101000000Z"});
  const std::string certificate = certificates.path("current.crt");
  const std::string key = certificates.path("current.key");
  const auto become = [&](const std::string& name) {
    std::ofstream(certificate) << certificates.pem(name + ".crt");
    std::ofstream(key) << certificates.pem(name + ".key");
  };
  become("old");
  access.credentials = make_credentials(Credentials{}, {.certificate = certificate, .key = key});
  Client client(access);
  EXPECT_THROW(client.ask("/version"), ConnectionError);
  become("me");
  EXPECT_TRUE(access.credentials->refuse(access.credentials->current()));
  EXPECT_NO_THROW(client.ask("/version"));
}

TEST_F(TlsTest, ReportsThatAServerSpeaksNoTls) {
  const HttpTestServer server([](const std::string&) { return "hello"; });
  access.server = fmt::format("https://127.0.0.1:{}", server.port());
  expect_in(refusal(), "no TLS with the server (");
}

}  // namespace
}  // namespace podere::kube
