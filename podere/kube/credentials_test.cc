#include "podere/kube/credentials.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/base64.h"
#include "podere/base/error.h"
#include "podere/kube/credential_program.h"
#include "podere/kube/expiry.h"
#include "podere/kube/test_certificates.h"

namespace podere::kube {
namespace {

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

CredentialProgram shell(const std::string& script) {
  return {.name = "user 'u' in FILE", .api_version = kVersion, .command = "sh", .arguments = {"-c", script}};
}

std::string answer(const std::string& status) {
  return std::string(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)") + status +
         "}";
}

template <typename Act>
std::string failure_of(const Act& act) {
  try {
    act();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
    return error.what();
  }
  return "none";
}

std::string refusal_of_program(const std::string& script) {
  return failure_of([&] { make_credentials(shell(script))->current(); });
}

TEST(Credentials, OfAFileAreReadAgainWhenTheyAreRefused) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = folder.path() / "token";
  write_file(path, "first\n");
  const auto source = make_credentials(Credentials{}, {.token = path});
  const Credentials first = source->current();
  EXPECT_EQ(first.token, "first");
  EXPECT_FALSE(source->refuse(first)) << "still the same";
  write_file(path, "second\n");
  EXPECT_EQ(source->current().token, "first") << "read not long ago";
  EXPECT_TRUE(source->refuse(first));
  EXPECT_EQ(source->current().token, "second");
  EXPECT_TRUE(source->refuse(first)) << "another thread has renewed them already";
  write_file(path, "");
  EXPECT_FALSE(source->refuse(source->current()));
  EXPECT_EQ(source->current().token, "second") << "what was read last, while the file is being written";
}

TEST(Credentials, OfAFileThatIsNotThereAreRefusedAtOnce) {
  EXPECT_EQ(failure_of([] { make_credentials(Credentials{}, {.token = "/nowhere/token"}); }),
            "/nowhere/token: No such file or directory");
  const TemporaryFolder folder(testing::TempDir());
  write_file(folder.path() / "token", " \n");
  const std::string path = folder.path() / "token";
  EXPECT_EQ(failure_of([&] { make_credentials(Credentials{}, {.token = path}); }), path + ": holds no token");
}

TEST(Credentials, ThatAreFixedCannotBeRenewed) {
  const auto source = make_credentials(Credentials{.token = "t"});
  EXPECT_FALSE(source->refuse(source->current()));
}

TEST(Credentials, OfAProgramHoldUntilTheyExpireOrAreRefused) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string count = folder.path() / "count";
  const auto counting = [&](const std::string& expiry) {
    return fmt::format(
        R"(echo x >> {}; echo '{{"apiVersion":"{}","kind":"ExecCredential","status":{{"token":"'$(wc -l < {})'"{}}}}}')",
        count, kVersion, count, expiry.empty() ? "" : R"(,"expirationTimestamp":")" + expiry + "\"");
  };
  const auto lasting = make_credentials(shell(counting("2200-01-01T00:00:00Z")));
  EXPECT_EQ(lasting->current().token, "1");
  EXPECT_EQ(lasting->current().token, "1");
  EXPECT_TRUE(lasting->refuse(lasting->current()));
  EXPECT_EQ(lasting->current().token, "2");
  const auto expired = make_credentials(shell(counting("2020-01-01T00:00:00Z")));
  EXPECT_EQ(expired->current().token, "3");
  EXPECT_EQ(expired->current().token, "4");
}

TEST(Credentials, OfAProgramThatGetsWhatItNeeds) {
  CredentialProgram program = shell(
      R"(test "$FLAVOR" = sweet && echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://h"' &&
         echo ')" +
      answer(R"({"token":"t"})") + "'");
  program.environment = {{"FLAVOR", "sweet"}};
  program.cluster = R"({"server":"https://h"})";
  EXPECT_EQ(make_credentials(program)->current().token, "t");
}

TEST(Credentials, OfAProgramThatFailsAreRefusedInOneLine) {
  const std::string who = "user 'u' in FILE: the program 'sh' that gives credentials ";
  EXPECT_EQ(refusal_of_program("echo first >&2; echo please log in >&2; exit 3"),
            who + "ended with exit code 3: please log in");
  EXPECT_EQ(refusal_of_program("echo hello"), who + "prints what is no JSON");
  EXPECT_EQ(refusal_of_program("echo '{}'"), who + "prints '' '' in place of ExecCredential " + kVersion);
  EXPECT_EQ(refusal_of_program("yes | head -c 3000000"), who + "prints too much for credentials");
  EXPECT_EQ(failure_of([] {
              make_credentials(CredentialProgram{.name = "user 'u' in FILE",
                                                 .api_version = kVersion,
                                                 .command = "podere-no-such-program",
                                                 .install_hint = "get it from\nthe administrator"})
                  ->current();
            }),
            "user 'u' in FILE: the program 'podere-no-such-program' that gives credentials is not there: get it "
            "from\\x0athe administrator");
}

TEST(Credentials, OfAProgramAreCheckedBeforeTheyAreUsed) {
  const auto refusal = [](const std::string& status) {
    return failure_of([&] { read_exec_credential(answer(status), kVersion); });
  };
  EXPECT_EQ(refusal(R"({"token":"t"})"), "none");
  EXPECT_EQ(refusal("{}"), "prints neither a token nor a certificate");
  EXPECT_EQ(refusal(R"({"token":"a\r\nX: y"})"), "prints a token of several lines");
  EXPECT_EQ(refusal(R"({"clientKeyData":"k"})"), "prints a certificate without its key, or a key alone");
  EXPECT_EQ(refusal(R"({"clientKeyData":"k","clientCertificateData":"c"})"), "holds no certificate (PEM)");
  EXPECT_EQ(refusal(R"({"token":"t","expirationTimestamp":"soon"})"),
            "prints an expirationTimestamp that is no time: 'soon'");
  EXPECT_EQ(
      failure_of([] { read_exec_credential(answer(R"({"token":"t"})"), "client.authentication.k8s.io/v1beta1"); }),
      "prints 'ExecCredential' 'client.authentication.k8s.io/v1' in place of ExecCredential "
      "client.authentication.k8s.io/v1beta1");
}

TEST(Credentials, SayWhatIsWrongWithThem) {
  TestCertificates certificates;
  const std::string old =
      certificates.make("old", {.subject = "/CN=me", .begin = "20200101000000Z", .end = "20210203040506Z"});
  EXPECT_EQ(to_text(expiry_of_certificate(old)), "2021-02-03T04:05:06Z");
  EXPECT_EQ(fault_of({.certificate = old}), "the client certificate expired on 2021-02-03T04:05:06Z");
  EXPECT_EQ(fault_of({.certificate = certificates.make("new", {})}), "");
  EXPECT_EQ(fault_of({.certificate = "no"}), "the client certificate holds no certificate (PEM)");
  EXPECT_EQ(fault_of({.token = "opaque"}), "");
  EXPECT_EQ(fault_of({.token = "e30.eyJleHAiOjE3MDAwMDAwMDB9.x"}), "the token expired on 2023-11-14T22:13:20Z");
  EXPECT_EQ(fault_of({}), "there is neither a token nor a certificate");
}

TEST(Expiry, OfATokenIsNothingUnlessItSaysSo) {
  for (const char* const token :
       {"", "a", "a.b", "..", "a.!!!.c", "a.e30.c", "a.eyJleHAiOiJ4In0.c", "a.eyJleHAiOjFlMzAwfQ.c"}) {
    EXPECT_EQ(expiry_of_token(token), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace podere::kube
