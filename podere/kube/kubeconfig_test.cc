#include "podere/kube/kubeconfig.h"

#include <gtest/gtest.h>

#include "podere/base/base64.h"
#include "podere/base/error.h"
#include "podere/kube/test_certificates.h"

namespace podere::kube {
namespace {

std::string base64(const std::string& text) { return to_base64(std::as_bytes(std::span(text))); }

std::string kubeconfig_refusal(const std::string& text, const std::string& context = "") {
  try {
    access_of(parse_kubeconfig(text, "/c/config"), context, "");
  } catch (const InputError& error) {
    EXPECT_EQ(std::string_view(error.what()).find_first_of("\r\n"), std::string_view::npos) << error.what();
    return error.what();
  }
  return "none";
}

constexpr const char* kHead = R"(apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: c, user: u, namespace: astro}
- name: there
  context: {cluster: d, user: u}
clusters:
- name: c
  cluster: {server: "https://host:6443/"}
)";

std::string with_user(const std::string& user) {
  return std::string(kHead) + "users:\n- name: u\n  user: " + user + "\n";
}

TEST(Kubeconfig, SaysWhereTheClusterIsAndWhoAsks) {
  const auto config = parse_kubeconfig(with_user("{token: secret}"), "/c/config");
  const Access access = access_of(config, "", "");
  EXPECT_EQ(access.server, "https://host:6443");
  EXPECT_EQ(access.in_namespace, "astro");
  EXPECT_EQ(access.origin, "context 'here' of /c/config");
  EXPECT_EQ(access.credentials->current().token, "secret");
  EXPECT_EQ(access_of(config, "here", "other").in_namespace, "other");
}

TEST(Kubeconfig, TakesCertificatesFromTheFileItselfAndFromOthers) {
  TestCertificates certificates;
  const auto folder = certificates.folder();
  const std::string client = certificates.make("me", {.subject = "/CN=me"});
  const std::string text = fmt::format(R"(
current-context: x
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://h", certificate-authority-data: {}}}}}]
users: [{{name: u, user: {{client-certificate: me.crt, client-key-data: {}}}}}]
)",
                                       base64(certificates.pem("ca.crt")), base64(certificates.pem("me.key")));
  const Access access = access_of(parse_kubeconfig(text, folder + "/config"), "", "");
  EXPECT_EQ(access.authority, certificates.pem("ca.crt"));
  EXPECT_EQ(access.credentials->current().certificate, certificates.pem("me.crt"));
  EXPECT_EQ(access.credentials->current().key, certificates.pem("me.key"));
}

TEST(Kubeconfig, PassesOnImpersonation) {
  const auto config = parse_kubeconfig(with_user("{token: t, as: ada, as-groups: [students, tutors]}"), "/c/config");
  EXPECT_EQ(
      access_of(config, "", "").impersonation,
      (std::vector<std::string>{"Impersonate-User: ada", "Impersonate-Group: students", "Impersonate-Group: tutors"}));
}

TEST(Kubeconfig, IsMergedSoThatTheFirstFileHolds) {
  Kubeconfig merged = parse_kubeconfig("current-context: a\nusers: [{name: u, user: {token: first}}]", "/1");
  merged.add(parse_kubeconfig(with_user("{token: second}"), "/2"));
  EXPECT_EQ(merged.current_context, "a");
  const Access access = access_of(merged, "here", "");
  EXPECT_EQ(access.credentials->current().token, "first");
  EXPECT_EQ(access.origin, "context 'here' of /2");
}

TEST(Kubeconfig, MayBeEmptyOrJson) {
  EXPECT_EQ(kubeconfig_refusal(""),
            "/c/config: has no current-context; name one with --context or kubectl config use-context");
  EXPECT_EQ(kubeconfig_refusal(R"({"clusters": [], "contexts": null})", "x"),
            "/c/config: there is no context 'x'; there is none");
}

TEST(Kubeconfig, IsRefusedWithThePlaceWhenItIsNone) {
  EXPECT_EQ(kubeconfig_refusal("a: [b\nc: d"), "/c/config:2:2: is no YAML (end of sequence flow not found)");
  EXPECT_EQ(kubeconfig_refusal("just words"), "/c/config: is no kubeconfig (no mapping)");
  EXPECT_EQ(kubeconfig_refusal("kind: Pod"), "/c/config: is no kubeconfig (kind 'Pod')");
  EXPECT_EQ(kubeconfig_refusal("clusters: {a: b}"), "/c/config: clusters: is no list (line 1, column 11)");
  EXPECT_EQ(kubeconfig_refusal("clusters:\n- cluster: {}"), "/c/config: clusters[0]: has no name");
  EXPECT_EQ(kubeconfig_refusal("clusters:\n- {name: c, cluster: {server: [1]}}"),
            "/c/config: clusters[0].cluster.server: is no text (line 2, column 31)");
  EXPECT_EQ(kubeconfig_refusal("clusters:\n- {name: c, cluster: {insecure-skip-tls-verify: perhaps}}"),
            "/c/config: clusters[0].cluster.insecure-skip-tls-verify: is no true or false (line 2, column 49)");
  EXPECT_EQ(kubeconfig_refusal(with_user("{token: \"a\\nX-Evil: b\"}")),
            "/c/config: users[0].user.token: is no single line (line 14, column 17)");
  EXPECT_EQ(kubeconfig_refusal("clusters:\n- {name: c, cluster: {server: \"https://h\xffst\"}}"),
            "/c/config: clusters[0].cluster.server: is no text in UTF-8 (line 2, column 31)")
      << "what goes to a credential program as JSON";
}

TEST(Kubeconfig, NamesWhatIsNotThere) {
  EXPECT_EQ(kubeconfig_refusal(with_user("{}"), "nowhere"),
            "/c/config: there is no context 'nowhere'; there are: here, there");
  EXPECT_EQ(kubeconfig_refusal(with_user("{}"), "there"),
            "context 'there' in /c/config: there is no cluster 'd'; there are: c");
  EXPECT_EQ(kubeconfig_refusal(kHead), "context 'here' in /c/config: there is no user 'u'; there is none");
}

TEST(Kubeconfig, RefusesServersThatAreNone) {
  const auto refusal = [](const std::string& server) {
    return kubeconfig_refusal(
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
        "clusters: [{name: c, cluster: {server: '" +
        server + "'}}]");
  };
  EXPECT_EQ(refusal("https://host:6443/prefix/"), "none");
  EXPECT_EQ(refusal("http://127.0.0.1:8001"), "none");
  EXPECT_EQ(refusal(""), "cluster 'c' in /c/config: names no server");
  for (const char* const server : {"host:6443", "ftp://host", "https://a b", "https://me:pw@host"}) {
    EXPECT_NE(refusal(server).find("is no server such as https://host:6443"), std::string::npos) << server;
  }
}

TEST(Kubeconfig, RefusesByNameWhatItDoesNotUnderstand) {
  for (const char* const field : {"username", "password", "as-uid"}) {
    EXPECT_EQ(kubeconfig_refusal(with_user(fmt::format("{{{}: x, token: t}}", field))),
              fmt::format("user 'u' in /c/config: '{}' is not supported; allowed are client certificates, token, "
                          "tokenFile and exec",
                          field));
  }
  EXPECT_NE(kubeconfig_refusal(with_user("{auth-provider: {name: gcp}}")).find("'auth-provider' is not supported"),
            std::string::npos);
  EXPECT_NE(kubeconfig_refusal(with_user("{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}"))
                .find("v1alpha1' is not supported; allowed are"),
            std::string::npos);
  EXPECT_NE(kubeconfig_refusal(with_user("{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, "
                                         "interactiveMode: Always}}"))
                .find("interactiveMode: 'Always' is not supported"),
            std::string::npos);
}

TEST(Kubeconfig, RefusesCertificatesThatCannotBeUsed) {
  EXPECT_EQ(kubeconfig_refusal(with_user("{client-certificate: /nowhere.crt, client-key: /nowhere.key}")),
            "user 'u' in /c/config: client-certificate: /nowhere.crt: No such file or directory");
  EXPECT_EQ(kubeconfig_refusal(with_user("{client-certificate-data: '***', client-key: /nowhere.key}")),
            "user 'u' in /c/config: client-certificate-data: a value is not base64");
  EXPECT_EQ(kubeconfig_refusal(with_user("{client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=}")),
            "user 'u' in /c/config: client-certificate-data: holds no certificate (PEM)");
  EXPECT_EQ(kubeconfig_refusal(with_user("{client-key-data: aGVsbG8=}")),
            "user 'u' in /c/config: has a client key without a client certificate");
  EXPECT_EQ(kubeconfig_refusal(with_user("{tokenFile: token}")),
            "user 'u' in /c/config: credentials: /c/token: No such file or directory");
}

}  // namespace
}  // namespace podere::kube
