#include "podere/controller/quota_facts.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

Json pod_spec(const Json& requests, const Json& limits = Json::object()) {
  return {{"containers", {{{"name", "main"}, {"resources", {{"requests", requests}, {"limits", limits}}}}}}};
}

/// How many pods fit, up to ten, and why not more.
std::pair<int, std::string> fitting(const std::vector<Json>& quotas, const Json& spec) {
  Objects<QuotaFacts> facts;
  for (const Json& quota : quotas) {
    facts.emplace_back(kube::key_of(quota), std::make_shared<const QuotaFacts>(quota_facts_of(quota)));
  }
  QuotaRoom room(facts);
  for (int n = 0; n < 10; ++n) {
    if (std::string why = room.admit(quota_charge_of(spec)); !why.empty()) return {n, why};
  }
  return {10, ""};
}

TEST(QuotaRoom, AdmitsPodsAsOftenAsTheScarcestKeyDoes) {
  const Json spec = pod_spec({{"cpu", "1500m"}, {"memory", "1Gi"}, {"nvidia.com/gpu", 1}}, {{"cpu", "2"}});
  const auto by = [&](const Json& hard, const Json& used) {
    return fitting({test_quota("astro", "q", hard, used)}, spec);
  };
  EXPECT_EQ(by({{"pods", "3"}}, {{"pods", "0"}}),
            std::pair(3, std::string("exceeded quota: q: requested: pods=1, used: pods=3, limited: pods=3")));
  EXPECT_EQ(by({{"count/pods", "5"}}, {{"count/pods", "1"}}).first, 4);
  EXPECT_EQ(by({{"requests.cpu", "5"}}, {{"requests.cpu", "500m"}}),
            std::pair(3, std::string("exceeded quota: q: requested: requests.cpu=1500m, used: requests.cpu=5, limited: "
                                     "requests.cpu=5")));
  EXPECT_EQ(by({{"cpu", "2"}}, {{"cpu", "0"}}).first, 1);
  EXPECT_EQ(
      by({{"memory", "2Gi"}, {"pods", "9"}}, {{"memory", "0"}, {"pods", "0"}}),
      std::pair(2, std::string("exceeded quota: q: requested: memory=1Gi, used: memory=2Gi, limited: memory=2Gi")));
  EXPECT_EQ(by({{"limits.cpu", "7"}}, {{"limits.cpu", "0"}}).first, 3);
  EXPECT_EQ(by({{"requests.nvidia.com/gpu", "2"}}, {{"requests.nvidia.com/gpu", "0"}}).first, 2);
  EXPECT_EQ(by({{"pods", "3"}}, {{"pods", "7"}}).first, 0) << "a quota that was lowered";
}

TEST(QuotaRoom, HeedsEachOfSeveralQuotas) {
  const auto [n, why] = fitting({test_quota("astro", "large", {{"pods", "8"}}, {{"pods", "0"}}),
                                 test_quota("astro", "small", {{"requests.cpu", "2"}}, {{"requests.cpu", "0"}})},
                                pod_spec({{"cpu", "1"}}));
  EXPECT_EQ(n, 2);
  EXPECT_TRUE(why.starts_with("exceeded quota: small: ")) << why;
}

TEST(QuotaRoom, LeavesToTheApiServerWhatIsNotCertain) {
  const Json spec = pod_spec({{"cpu", "1"}});
  const auto by = [&](const Json& hard, const Json& used) {
    return fitting({test_quota("astro", "q", hard, used)}, spec).first;
  };
  EXPECT_EQ(by({{"limits.cpu", "1"}}, {{"limits.cpu", "0"}}), 10) << "a LimitRange may give it limits";
  EXPECT_EQ(by({{"requests.memory", "1"}}, {{"requests.memory", "0"}}), 10);
  EXPECT_EQ(by({{"pods", "1"}}, Json::object()), 10) << "that is not counted yet";
  EXPECT_EQ(by({{"services", "0"}, {"count/secrets", "0"}}, {{"services", "0"}, {"count/secrets", "0"}}), 10);
}

TEST(QuotaFacts, HaveWhatCountsPodsOnly) {
  const Json hard = {{"pods", "3"},
                     {"requests.cpu", "1500m"},
                     {"limits.memory", "1Ki"},
                     {"requests.storage", "1Gi"},
                     {"secrets", "5"}};
  Json used = hard;
  used.erase("limits.memory");
  const QuotaFacts facts = quota_facts_of(test_quota("astro", "q", hard, used));
  EXPECT_EQ(facts.hard, (Amounts{{"pods", 3}, {"requests.cpu", 1500}}));
  EXPECT_EQ(facts.used, facts.hard);
}

TEST(QuotaRoom, HeedsScopesThatCertainlyMatch) {
  const auto by = [](const Json& scopes, const Json& selector, const Json& spec) {
    Json quota = test_quota("astro", "q", {{"pods", "2"}}, {{"pods", "0"}});
    quota["spec"] = {{"scopes", scopes}, {"scopeSelector", {{"matchExpressions", selector}}}};
    return fitting({quota}, spec).first;
  };
  const Json spec = pod_spec({{"cpu", "1"}});
  const Json none = Json::array();
  Json ending = spec;
  ending["activeDeadlineSeconds"] = 60;
  const auto selects = [](const char* scope, const char* op) {
    return Json::array({{{"scopeName", scope}, {"operator", op}}});
  };
  EXPECT_EQ(by(none, none, spec), 2);
  EXPECT_EQ(by({"NotTerminating", "NotBestEffort"}, none, spec), 2);
  EXPECT_EQ(by(none, selects("NotTerminating", "Exists"), spec), 2);
  EXPECT_EQ(by({"NotTerminating"}, none, ending), 10);
  EXPECT_EQ(by({"Terminating"}, none, ending), 2);
  EXPECT_EQ(by({"Terminating"}, none, spec), 10);
  EXPECT_EQ(by({"BestEffort"}, none, spec), 10);
  EXPECT_EQ(by({"NotBestEffort"}, none, pod_spec(Json::object())), 10) << "a LimitRange may give it requests";
  EXPECT_EQ(by(none, selects("PriorityClass", "In"), spec), 10);
  EXPECT_EQ(by({"NotTerminating", "PriorityClass"}, none, spec), 10);
}

}  // namespace
}  // namespace podere::controller
