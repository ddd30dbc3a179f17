#include "podere/controller/executor_security.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

const std::string kSecret = "podere-farm-cms";

Json spec_mounting(const Json& secret) {
  Json spec = test_pod_spec();
  spec["volumes"] = Json::array({{{"name", "keys"}, {"secret", secret}}});
  return spec;
}

Json secured(Json spec) {
  secure_executor(spec, kSecret);
  return spec;
}

TEST(ExecutorSecurity, IsThereWhereTheTemplateSaysNothing) {
  Json spec = test_pod_spec();
  spec["initContainers"] = spec["containers"];
  spec = secured(spec);
  EXPECT_EQ(spec["automountServiceAccountToken"], false);
  EXPECT_EQ(spec["securityContext"], (Json{{"runAsNonRoot", true}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}));
  for (const char* const kind : {"containers", "initContainers"}) {
    EXPECT_EQ(spec[kind][0]["securityContext"],
              (Json{{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}));
  }
}

TEST(ExecutorSecurity, LeavesWhatTheTemplateSays) {
  Json spec = test_pod_spec();
  spec["automountServiceAccountToken"] = true;
  spec["securityContext"] = {{"runAsNonRoot", false}, {"runAsUser", 0}};
  spec["containers"][0]["securityContext"] = {{"capabilities", {{"add", {"IPC_LOCK"}}}}};
  const Json after = secured(spec);
  EXPECT_EQ(after["automountServiceAccountToken"], true);
  EXPECT_EQ(after["securityContext"]["runAsNonRoot"], false);
  EXPECT_EQ(after["containers"][0]["securityContext"]["capabilities"], (Json{{"add", {"IPC_LOCK"}}}));
  EXPECT_EQ(after["containers"][0]["securityContext"]["allowPrivilegeEscalation"], false);
}

TEST(ExecutorSecurity, MountsHostKeyAndPublicKeyOnlyWhateverTheTemplateSays) {
  const Json items = Json::array(
      {{{"key", "ssh-hostkey"}, {"path", "ssh-hostkey"}}, {{"key", "ssh-publickey"}, {"path", "ssh-publickey"}}});
  for (const Json& secret : {Json{{"secretName", kSecret}}, Json{{"secretName", kSecret}, {"defaultMode", 0777}},
                             Json{{"secretName", kSecret},
                                  {"items", Json::array({{{"key", "ssh-privatekey"}, {"path", "ssh-hostkey"}}})}}}) {
    Json spec = spec_mounting(secret);
    EXPECT_EQ(secured(spec)["volumes"][0]["secret"],
              (Json{{"secretName", kSecret}, {"items", items}, {"defaultMode", 0444}}));
    spec["securityContext"]["fsGroup"] = 1000;
    EXPECT_EQ(secured(spec)["volumes"][0]["secret"]["defaultMode"], 0440);
  }
  const Json other = {{"secretName", "mine"}};
  EXPECT_EQ(secured(spec_mounting(other))["volumes"][0]["secret"], other);
}

TEST(ExecutorSecurity, RefusesOtherWaysToTheKeys) {
  EXPECT_EQ(misused_keys(test_pod_spec(), kSecret), "");
  EXPECT_EQ(misused_keys(spec_mounting({{"secretName", kSecret}}), kSecret), "");
  Json spec = spec_mounting({{"secretName", kSecret}});
  spec["containers"][0]["env"] = Json::array(
      {{{"name", "KEY"}, {"valueFrom", {{"secretKeyRef", {{"name", kSecret}, {"key", "ssh-privatekey"}}}}}}});
  EXPECT_NE(misused_keys(spec, kSecret).find("as a volume 'secret: {secretName: podere-farm-cms}' only"),
            std::string::npos);
  spec = test_pod_spec();
  spec["volumes"] =
      Json::array({{{"name", "keys"}, {"projected", {{"sources", Json::array({{{"secret", {{"name", kSecret}}}}})}}}}});
  EXPECT_NE(misused_keys(spec, kSecret), "");
}

TEST(ExecutorSecurity, LeavesNonsenseToTheServer) {
  for (const char* const text : {"7", R"({"securityContext":7,"containers":[7],"volumes":{"a":1}})",
                                 R"({"containers":{"a":1},"initContainers":[{"securityContext":"x"}]})"}) {
    Json spec = Json::parse(text);
    EXPECT_NO_THROW(secure_executor(spec, kSecret)) << text;
    EXPECT_EQ(misused_keys(spec, kSecret), "") << text;
  }
}

}  // namespace
}  // namespace podere::controller
