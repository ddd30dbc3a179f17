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

TEST(FarmKeys, AreTriedAgainUntilTheServerTakesThem) {
  std::mutex mutex;
  std::vector<Json> secrets;
  int status = 500;
  HttpTestServer server([&](const std::string& request) {
    const std::scoped_lock lock(mutex);
    secrets.push_back(Json::parse(kube::body_of(request)));
    return status == 200 ? kube::json_answer(secrets.back()) : kube::error_answer(status, "Told");
  });
  kube::Client client(kube::access_to(server), {.max_retries = 0});
  Metrics metrics;
  Writer writer(
      client, [] { return true; }, metrics);
  std::vector<std::string> told;
  FarmKeys keys(writer, [&](const std::string& line) { told.push_back(line); });
  TestCluster cluster;
  cluster.add_farm(json_mounting("podere-farm-astro"));
  const auto made_at = [&](double seconds) {  // how many times it was tried by then
    Pass pass = test_pass(cluster, kTestNow + seconds);
    keys.make(pass);
    EXPECT_EQ(pass.next_look < kNever, status != 200) << seconds;
    const std::scoped_lock lock(mutex);
    return secrets.size();
  };
  EXPECT_EQ(made_at(0), 1U);
  EXPECT_EQ(made_at(1), 1U) << "not at each pass";
  status = 200;
  EXPECT_EQ(made_at(60), 2U);
  EXPECT_EQ(made_at(120), 2U) << "it has them";
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("500"), std::string::npos) << told[0];
  EXPECT_EQ(told[1], "farm stars/astro: made the secret podere-farm-astro");
  const Json& secret = secrets.back();
  EXPECT_EQ(secret.at("metadata").at("name"), "podere-farm-astro");
  EXPECT_EQ(secret.at("metadata").at("ownerReferences").at(0).at("uid"), "farm-astro");
  EXPECT_NE(secret.at("stringData").at("ssh-privatekey"), secret.at("stringData").at("ssh-hostkey"));
  for (const char* const field : {"ssh-publickey", "known_hosts"}) {
    EXPECT_NE(secret.at("stringData").at(field).get<std::string>().find("ssh-ed25519 "), std::string::npos) << field;
  }
}

}  // namespace
}  // namespace podere::controller
