#include "podere/controller/farm_keys.h"

#include <gtest/gtest.h>

#include <mutex>

#include "podere/controller/test_objects.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

Json json_mounting(const char* secret) {
  Json farm = test_farm("stars", "astro", 1, 1);
  if (secret != nullptr) {
    farm["spec"]["template"]["spec"]["volumes"] =
        Json::array({{{"name", "keys"}, {"secret", {{"secretName", secret}}}}});
  }
  return farm;
}

FarmObject farm_mounting(const char* secret) {
  NeedsTable needs;
  return farm_object_of(json_mounting(secret), needs);
}

TEST(FarmKeys, AreMadeForTemplatesThatMountThem) {
  const kube::ObjectKey key{"stars", "astro"};
  EXPECT_TRUE(wants_keys(key, farm_mounting("podere-farm-astro")));
  EXPECT_FALSE(wants_keys(key, farm_mounting("podere-farm-hep"))) << "those of another farm";
  EXPECT_FALSE(wants_keys(key, farm_mounting(nullptr)));
  EXPECT_FALSE(wants_keys(key, FarmObject()));
}

/// An API server that has, or has not, a secret.
class SecretServer {
 public:
  HttpTestServer server{[this](const std::string& request) { return answer(request); }};
  kube::Client client{kube::access_to(server), {.max_retries = 0}};
  Metrics metrics;
  Writer writer{client, [] { return true; }, metrics};
  std::vector<std::string> log;
  FarmKeys keys{writer, [this](const std::string& line) { log.push_back(line); }};

  int status_of_create = 200;
  bool has_secret = false;
  std::vector<Json> secrets;   // that were to be made
  std::vector<Json> statuses;  // that were written
  std::vector<std::string> order;

  /// The pass that prepares them.
  Pass pass_at(const Json& farm, double seconds) {
    TestCluster cluster;
    cluster.add_farm(farm);
    Pass pass = test_pass(cluster, kTestNow + seconds);
    pass.scope.farms = {0};
    keys.prepare(pass);
    return pass;
  }

 private:
  std::string answer(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    const Json body = Json::parse(kube::body_of(request));
    if (request.starts_with("PATCH")) {
      order.emplace_back("status");
      statuses.push_back(body);
      return kube::json_answer(body);
    }
    const bool is_trial = request.substr(0, request.find('\n')).find("dryRun=All") != std::string::npos;
    order.emplace_back(is_trial ? "trial" : "create");
    if (has_secret) return kube::error_answer(409, "AlreadyExists");
    if (is_trial) return kube::json_answer(body);
    secrets.push_back(body);
    if (status_of_create != 200) return kube::error_answer(status_of_create, "Scripted");
    has_secret = true;
    return kube::json_answer(body);
  }
  std::mutex mutex_;
};

TEST(FarmKeys, AreTriedAgainUntilTheServerAcceptsThem) {
  SecretServer api;
  const Json farm = json_mounting("podere-farm-astro");
  const auto made_at = [&](double seconds) {  // how many times it was tried by then
    const Pass pass = api.pass_at(farm, seconds);
    EXPECT_TRUE(pass.blocked_because.empty());
    EXPECT_EQ(pass.next_look < kNever, api.status_of_create != 200) << seconds;
    return api.secrets.size();
  };
  api.status_of_create = 500;
  EXPECT_EQ(made_at(0), 1U);
  EXPECT_EQ(made_at(1), 1U) << "not at each pass";
  api.status_of_create = 200;
  EXPECT_EQ(made_at(60), 2U);
  EXPECT_EQ(made_at(120), 2U) << "it has them";
  ASSERT_EQ(api.log.size(), 2U);
  EXPECT_NE(api.log[0].find("500"), std::string::npos) << api.log[0];
  EXPECT_EQ(api.log[1], "farm stars/astro: made the secret podere-farm-astro");
  const Json& secret = api.secrets.back();
  EXPECT_EQ(secret.at("metadata").at("name"), "podere-farm-astro");
  EXPECT_EQ(secret.at("metadata").at("ownerReferences").at(0).at("uid"), "farm-astro");
  EXPECT_EQ(secret.at("immutable"), true);
  EXPECT_NE(secret.at("stringData").at("ssh-privatekey"), secret.at("stringData").at("ssh-hostkey"));
  for (const char* const field : {"ssh-publickey", "known_hosts"}) {
    EXPECT_NE(secret.at("stringData").at(field).get<std::string>().find("ssh-ed25519 "), std::string::npos) << field;
  }
}

TEST(FarmKeys, AreKnownByTheStatusBeforeTheyAreMade) {
  SecretServer api;
  api.pass_at(json_mounting("podere-farm-astro"), 0);
  EXPECT_EQ(api.order, (std::vector<std::string>{"trial", "status", "create"}));
  const Json& written = api.statuses.at(0).at("status").at("hostKeys");
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(api.secrets.at(0).at("stringData").at("known_hosts"),
            "podere-farm " + written.at(0).get<std::string>() + "\n");
}

TEST(FarmKeys, MadeByOthersAreRefusedUntilTheyAreGone) {
  SecretServer api;
  api.has_secret = true;
  const Json farm = json_mounting("podere-farm-astro");
  for (const double seconds : {0.0, 1.0, 10.0}) {
    const Pass pass = api.pass_at(farm, seconds);
    EXPECT_EQ(
        pass.blocked_because.at("farm-astro"),
        "the secret podere-farm-astro was not made by the operator, so others may know its keys: kubectl -n stars "
        "delete secret podere-farm-astro, and the operator makes it");
    EXPECT_TRUE(pass.scope.blocked.contains("farm-astro")) << "no pods are made of it";
    EXPECT_LT(pass.next_look, kNever);
  }
  EXPECT_TRUE(api.statuses.empty());
  api.has_secret = false;
  EXPECT_TRUE(api.pass_at(farm, 20).blocked_because.empty());
  EXPECT_EQ(api.secrets.size(), 1U);
}

TEST(FarmKeys, OfAnOperatorBeforeAreKept) {
  SecretServer api;
  api.has_secret = true;
  Json farm = json_mounting("podere-farm-astro");
  farm["status"]["hostKeys"] = {"ssh-ed25519 AAAA"};
  EXPECT_TRUE(api.pass_at(farm, 0).blocked_because.empty());
  EXPECT_EQ(api.order, std::vector<std::string>{"trial"});
}

TEST(FarmKeys, ThatWereDeletedAreMadeByTheOperatorThatComesNext) {
  SecretServer api;
  Json farm = json_mounting("podere-farm-astro");
  farm["status"]["hostKeys"] = {"1", "2", "3", "4"};
  api.pass_at(farm, 0);
  const Json& written = api.statuses.at(0).at("status").at("hostKeys");
  ASSERT_EQ(written.size(), 4U) << "the last ones are kept";
  EXPECT_EQ(written.at(0), "2");
  EXPECT_TRUE(api.has_secret);
}

}  // namespace
}  // namespace podere::controller
