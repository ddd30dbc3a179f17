#include "podere/kube/access.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "podere/base/error.h"
#include "podere/kube/test_certificates.h"

namespace podere::kube {
namespace {

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// With an environment that knows of no cluster, restored afterwards.
class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    for (const char* const name : {"HOME", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
    setenv("HOME", home().c_str(), 1);
  }
  ~AccessTest() override {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }
  std::string home() const { return folder_.path().string(); }

  /// A kubeconfig of one context, which is the current one.
  std::string config(const std::string& name, const std::string& file) {
    const auto path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    write(path, fmt::format("{{current-context: {0}, contexts: [{{name: {0}, context: {{cluster: {0}}}}}],\n"
                            "clusters: [{{name: {0}, cluster: {{server: 'https://{0}'}}}}]}}",
                            name));
    return path.string();
  }
  static std::string refusal_of(const AccessOptions& options) {
    try {
      find_access(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  TemporaryFolder folder_{testing::TempDir()};
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(AccessTest, IsFoundWhereKubectlFindsIt) {
  EXPECT_EQ(
      refusal_of({}),
      fmt::format("no cluster is known: there is no {}/.kube/config, KUBECONFIG is not set, and this process runs "
                  "in no pod; ask the cluster's administrator for a kubeconfig file",
                  home()));
  config("home", ".kube/config");
  EXPECT_EQ(find_access().server, "https://home");
  const std::string first = config("first", "1");
  const std::string second = config("second", "2");
  setenv("KUBECONFIG", fmt::format(":/nowhere:{}:{}", first, second).c_str(), 1);
  EXPECT_EQ(find_access().server, "https://first");
  EXPECT_EQ(find_access({.context = "second"}).server, "https://second");
  EXPECT_EQ(find_access({.context = "second"}).origin, "context 'second' of " + second);
  EXPECT_EQ(find_access({.kubeconfig = second}).server, "https://second");
  EXPECT_EQ(refusal_of({.context = "third"}),
            fmt::format("{}:{}: there is no context 'third'; there are: first, second", first, second));
}

TEST_F(AccessTest, IsRefusedWhereFilesAreMissing) {
  EXPECT_EQ(refusal_of({.kubeconfig = "/nowhere/config"}), "/nowhere/config: No such file or directory");
  setenv("KUBECONFIG", "/nowhere/a:/nowhere/b", 1);
  EXPECT_EQ(refusal_of({}), "KUBECONFIG=/nowhere/a:/nowhere/b: there is no such file");
}

TEST_F(AccessTest, OfAPodIsItsServiceAccount) {
  EXPECT_THROW(pod_access(home()), InputError);
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  TestCertificates account;
  write(account.path("token"), "pod-token\n");
  write(account.path("namespace"), "astro");
  const Access access = pod_access(account.folder());
  EXPECT_EQ(access.server, "https://[fd00::1]:443");
  EXPECT_EQ(access.in_namespace, "astro");
  EXPECT_EQ(access.authority, account.pem("ca.crt"));
  EXPECT_EQ(access.credentials->current().token, "pod-token");
  write(account.path("ca.crt"), "no certificate");
  EXPECT_THROW(pod_access(account.folder()), InputError);
}

}  // namespace
}  // namespace podere::kube
