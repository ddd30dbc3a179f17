#include "podere/launch/farm_pods.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::launch {
namespace {

kube::Json ready_pod() {
  return {
      {"metadata", {{"labels", {{"podere.dev/farm", "astro"}}}, {"annotations", {{"mine", "1"}}}}},
      {"status",
       {{"podIP", "10.1.2.3"},
        {"conditions", {{{"type", "PodScheduled"}, {"status", "True"}}, {{"type", "Ready"}, {"status", "True"}}}}}}};
}

TEST(FarmPod, CanBeUsedWhileItIsReadyAndIsNotAskedToGo) {
  EXPECT_TRUE(read_farm_pod(ready_pod()).can_be_used);
  EXPECT_EQ(read_farm_pod(ready_pod()).address, "10.1.2.3");
  auto pod = ready_pod();
  pod["status"]["conditions"][1]["status"] = "False";
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
  pod = ready_pod();
  pod["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
  pod = ready_pod();
  pod["metadata"]["annotations"]["podere.dev/reclaim-deadline"] = "2027-01-01T00:00:00Z";
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
  pod = ready_pod();
  pod["metadata"]["labels"]["podere.dev/role"] = "driver";
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
  pod = ready_pod();
  pod["metadata"]["labels"]["spark-role"] = "driver";
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
  pod = ready_pod();
  pod["status"].erase("podIP");
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
}

TEST(FarmPod, OfWhichNothingIsKnownYetCannotBeUsed) {
  for (const char* text : {"{}", R"({"status":{}})", R"({"metadata":{},"status":{"conditions":[]}})",
                           R"({"status":{"conditions":null,"podIP":7}})", R"({"status":[]})"}) {
    EXPECT_FALSE(read_farm_pod(kube::Json::parse(text)).can_be_used) << text;
  }
}

TEST(SecretField, ThatIsMissingIsReportedInALine) {
  kube::Json secret{{"metadata", {{"namespace", "astro"}, {"name", "podere-farm-sky"}}},
                    {"data", {{"known_hosts", "aGk="}, {"ssh-publickey", ""}, {"ssh-hostkey", "?"}}}};
  EXPECT_EQ(read_secret_field(secret, "known_hosts").size(), 2U);
  for (const char* const field : {"ssh-privatekey", "ssh-publickey", "ssh-hostkey"}) {
    try {
      read_secret_field(secret, field);
      FAIL() << field;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "--farm: secret astro/podere-farm-sky has no " + std::string(field) +
                                               "; podere operator makes one that has, when there is none");
    }
  }
  secret.erase("data");
  EXPECT_THROW(read_secret_field(secret, "known_hosts"), InputError);
}

}  // namespace
}  // namespace podere::launch
