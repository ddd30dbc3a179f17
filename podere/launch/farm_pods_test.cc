#include "podere/launch/farm_pods.h"

#include <gtest/gtest.h>

namespace podere::launch {
namespace {

kube::Json ready_pod() {
  return {
      {"metadata", {{"labels", {{"podere.dev/farm", "astro"}}}, {"annotations", {{"mine", "1"}}}}},
      {"status",
       {{"podIP", "10.1.2.3"},
        {"conditions", {{{"type", "PodScheduled"}, {"status", "True"}}, {{"type", "Ready"}, {"status", "True"}}}}}}};
}

TEST(FarmPod, CanBeUsedWhileItIsReadyAndNobodyHasToldItToGo) {
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
  pod["status"].erase("podIP");
  EXPECT_FALSE(read_farm_pod(pod).can_be_used);
}

TEST(FarmPod, OfWhichNothingIsKnownYetCannotBeUsed) {
  for (const char* text : {"{}", R"({"status":{}})", R"({"metadata":{},"status":{"conditions":[]}})",
                           R"({"status":{"conditions":null,"podIP":7}})", R"({"status":[]})"}) {
    EXPECT_FALSE(read_farm_pod(kube::Json::parse(text)).can_be_used) << text;
  }
}

}  // namespace
}  // namespace podere::launch
