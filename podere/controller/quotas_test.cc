#include "podere/controller/quotas.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

using Wanted = std::map<std::string, int>;

/// hep/cms has borrowed room on ten nodes of one core; farms of astro want it.
class QuotasTest : public testing::Test {
 protected:
  QuotasTest() {
    for (int i = 0; i < 10; ++i) {
      cluster_.add_node(test_node(fmt::format("n{}", i), 1));
      cluster_.add_pod(test_pod("hep", fmt::format("cms-{}", i), "farm-cms", fmt::format("n{}", i)));
    }
    cluster_.add_farm(test_farm("hep", "cms", 10, 0));
  }

  void quota(const std::string& name, const Json& hard, const Json& used) {
    QuotaFacts facts = quota_facts_of(test_quota("astro", name, hard, used));
    quotas_["astro"].emplace_back(kube::ObjectKey{"astro", name}, std::make_shared<const QuotaFacts>(std::move(facts)));
  }
  void pods_quota(int hard, int used) {
    quota("small", {{"pods", std::to_string(hard)}}, {{"pods", std::to_string(used)}});
  }

  /// `on_server`: what the API server says if it is asked.
  Pass decide(const std::optional<QuotasByNamespace>& on_server = {}) {
    Pass pass = test_pass(cluster_, kTestNow, {"", "all"},
                          std::make_shared<const ManagerObject>(ManagerObject{.policy = policy_}));
    for (auto& farm : pass.cluster.state.farms) {
      if (is_gang_) farm.is_gang = farm.key == "astro/sky";
    }
    pass.decision = farm::decide(pass.cluster.state, pass.policy);
    heed_quotas(pass, quotas_, [&](const std::string& in_namespace) {
      asked_.push_back(in_namespace);
      return on_server.value_or(quotas_)[in_namespace];
    });
    return pass;
  }
  /// How many are reclaimed for each farm.
  static Wanted reclaimed(const Pass& pass) {
    Wanted reclaimed;
    for (const farm::Reclaim& reclaim : pass.decision.reclaims) {
      ++reclaimed[pass.cluster.state.farms[static_cast<std::size_t>(reclaim.for_farm)].key];
    }
    return reclaimed;
  }
  /// `n` of cms's executors drain for the farm, since the last pass.
  void drain_for(const std::string& farm, int n) {
    for (int i = 0; i < n; ++i) {
      Json pod = test_pod("hep", fmt::format("cms-{}", i), "farm-cms", fmt::format("n{}", i));
      pod["metadata"]["annotations"] = {{kReclaimedFor, farm}, {kReclaimDeadline, time_text(kTestNow + 30)}};
      cluster_.add_pod(pod);
    }
  }

  TestCluster cluster_;
  QuotasByNamespace quotas_;
  farm::Policy policy_;
  bool is_gang_ = false;
  std::vector<std::string> asked_;
};

TEST_F(QuotasTest, NoMoreIsReclaimedThanIsAdmitted) {
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 5}}));
  EXPECT_TRUE(asked_.empty()) << "without quotas the server is not asked";
  pods_quota(3, 0);
  const Pass pass = decide();
  EXPECT_EQ(reclaimed(pass), (Wanted{{"astro/sky", 3}}));
  EXPECT_EQ(pass.decision.creations.size(), 3U);
  EXPECT_EQ(pass.blocked_because.at("farm-sky"),
            "exceeded quota: small: requested: pods=1, used: pods=3, limited: pods=3");
  EXPECT_EQ(asked_, std::vector<std::string>{"astro"});
}

TEST_F(QuotasTest, WhatIsOnItsWayIsAdmittedFirst) {
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  pods_quota(3, 0);
  drain_for("astro/sky", 3);
  const Pass pass = decide();
  EXPECT_EQ(reclaimed(pass), Wanted{});
  EXPECT_EQ(pass.decision.outlooks[0].guarantee.for_drain, 3);
  EXPECT_TRUE(asked_.empty()) << "nothing is to be reclaimed";
}

TEST_F(QuotasTest, WhatIsThereCountsInTheQuotaAlready) {
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  for (int i = 0; i < 3; ++i) {
    cluster_.add_node(test_node(fmt::format("m{}", i), 1));
    cluster_.add_pod(test_pod("astro", fmt::format("sky-{}", i), "farm-sky", fmt::format("m{}", i)));
  }
  pods_quota(4, 3);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 1}}));
}

TEST_F(QuotasTest, WhatEndsCountsUntilItIsGone) {
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  cluster_.add_node(test_node("m", 0));  // whose room would not help
  Json pod = test_pod("astro", "sky-0", "farm-sky", "m");
  pod["metadata"]["deletionTimestamp"] = time_text(kTestNow + 30);
  cluster_.add_pod(pod);
  pods_quota(3, 1);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 2}}));
  quotas_.clear();
  pods_quota(3, 0);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 3}}));
}

TEST_F(QuotasTest, BeforeAnyReclaimTheApiServerIsAskedAsAWatchMayBeBehind) {
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  pods_quota(3, 0);
  QuotasByNamespace now;
  std::swap(now, quotas_);
  pods_quota(3, 2);
  std::swap(now, quotas_);
  EXPECT_EQ(reclaimed(decide(now)), (Wanted{{"astro/sky", 1}}));
  EXPECT_EQ(asked_, std::vector<std::string>{"astro"});
}

TEST_F(QuotasTest, FarmsOfANamespaceShareItsQuotasAndGuaranteesAreFirst) {
  cluster_.add_farm(test_farm("astro", "sky", 4, 4)).add_farm(test_farm("astro", "sun", 4, 4));
  cluster_.add_farm(test_farm("bio", "dna", 2, 2));
  pods_quota(4, 0);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 2}, {"astro/sun", 2}, {"bio/dna", 2}}));
}

TEST_F(QuotasTest, WhoFindsRoomAtOnceLeavesThatOfTheQuotaToGuaranteesThatWaitForADrain) {
  Json large = test_farm("astro", "sky", 2, 2);
  large["spec"]["template"]["spec"]["nodeSelector"] = {{"kind", "gpu"}};
  for (const char* const name : {"g0", "g1"}) {
    cluster_.add_node(test_node(name, 1, {{"kind", "gpu"}}));
    cluster_.add_pod(test_pod("hep", std::string("cms-") + name, "farm-cms", name));
  }
  Json borrower = test_farm("hep", "cms", 12, 0);
  cluster_.add_farm(borrower).add_farm(large).add_farm(test_farm("astro", "sun", 4, 0));
  for (int i = 0; i < 4; ++i) cluster_.add_node(test_node(fmt::format("free{}", i), 1));
  pods_quota(3, 0);
  const Pass pass = decide();
  EXPECT_EQ(reclaimed(pass), (Wanted{{"astro/sky", 2}}));
  const auto n_made = std::ranges::count_if(pass.decision.creations, [](const auto& c) { return c.farm == 1; });
  EXPECT_EQ(n_made, 1);
  EXPECT_TRUE(pass.blocked_because.contains("farm-sun"));
  EXPECT_FALSE(pass.blocked_because.contains("farm-sky"));
}

TEST_F(QuotasTest, SharesOfBorrowedRoomAreReclaimedAsFarAsIsAdmittedToo) {
  policy_.mode = farm::Mode::kFairShare;
  cluster_.add_farm(test_farm("astro", "sky", 10, 0));
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 5}}));
  pods_quota(3, 0);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 3}}));
}

TEST_F(QuotasTest, AGangThatIsNotAdmittedInWholeReclaimsNothing) {
  is_gang_ = true;
  cluster_.add_farm(test_farm("astro", "sky", 5, 5));
  pods_quota(3, 0);
  const Pass pass = decide();
  EXPECT_EQ(reclaimed(pass), Wanted{});
  EXPECT_TRUE(pass.decision.creations.empty());
  EXPECT_EQ(pass.cluster.state.farms[0].most_made, 0);
  quotas_.clear();
  pods_quota(5, 0);
  EXPECT_EQ(reclaimed(decide()), (Wanted{{"astro/sky", 5}}));
}

TEST_F(QuotasTest, PodsForShowGoWhereAQuotaIsShort) {
  policy_.pending_pods = 2;
  cluster_.add_farm(test_farm("astro", "sky", 5, 5)).add_farm(test_farm("astro", "sun", 0, 0));
  pods_quota(3, 0);
  const Pass pass = decide();
  for (const std::size_t f : {0U, 1U}) EXPECT_EQ(pass.cluster.state.farms[f].most_shown, 0);
  EXPECT_EQ(pass.cluster.state.farms[2].most_shown, farm::kNoCeiling) << "of another namespace";
}

TEST_F(QuotasTest, WaitingExecutorsOfAnOldTemplateDoNotTurnInCircles) {
  Json farm = test_farm("astro", "sky", 5, 5);
  cluster_.add_farm(farm);
  for (int i = 0; i < 3; ++i) {
    Json pod = test_pod("astro", fmt::format("sky-{}", i), "farm-sky");
    pod["metadata"]["annotations"] = {{kTemplateMark, "old"}};
    cluster_.add_pod(pod);
  }
  pods_quota(3, 3);
  const Pass pass = decide();
  EXPECT_EQ(reclaimed(pass), Wanted{}) << "until they are gone";
  EXPECT_EQ(pass.decision.removals.size(), 3U);
  EXPECT_EQ(pass.decision.outlooks[0].demand, 0) << "not more than was admitted";
}

int up_to(int most) { return *rc::gen::inRange(0, most + 1); }
bool one_in(int n) { return up_to(n - 1) == 0; }

/// It runs, waits, ends, or was reclaimed for another.
Json any_pod(const std::string& farm, int number) {
  const bool waits = one_in(3);
  Json pod =
      test_pod("astro", fmt::format("{}-{}", farm, number), "farm-" + farm, waits ? "" : fmt::format("n{}", up_to(5)));
  if (waits) {
    if (one_in(3)) pod["metadata"]["annotations"] = {{kShowsMissing, "true"}};
    if (one_in(3)) pod["metadata"]["annotations"] = {{kTemplateMark, "old"}};
  } else if (one_in(3)) {
    pod["metadata"]["deletionTimestamp"] = time_text(kTestNow + 20);
  }
  return pod;
}

/// hep has most of six nodes, of which farms of astro want some.
TestCluster any_cluster() {
  TestCluster cluster;
  for (int n = 0; n < 6; ++n) {
    cluster.add_node(test_node(fmt::format("n{}", n), 3 + up_to(1)));
    for (int i = 0; i < 3; ++i) {
      Json pod = test_pod("hep", fmt::format("h-{}-{}", n, i), "farm-h", fmt::format("n{}", n));
      if (one_in(6)) {
        pod["metadata"]["annotations"] = {{kReclaimedFor, fmt::format("astro/a{}", up_to(2))},
                                          {kReclaimedForGuarantee, one_in(2) ? "true" : "false"},
                                          {kReclaimDeadline, time_text(kTestNow + 20)}};
      }
      cluster.add_pod(pod);
    }
  }
  cluster.add_farm(test_farm("hep", "h", 18, up_to(4)));
  for (const std::string name : {"a0", "a1", "a2"}) {
    const int wanted = up_to(8);
    Json farm = test_farm("astro", name, wanted, up_to(wanted));
    farm["spec"]["priority"] = up_to(1);
    farm["spec"]["gang"] = one_in(4);
    farm["spec"]["template"]["spec"] = test_pod_spec(one_in(4) ? "2" : "1");
    cluster.add_farm(farm);
    for (int i = up_to(2); i > 0; --i) cluster.add_pod(any_pod(name, i));
  }
  return cluster;
}

RC_GTEST_PROP(Quotas, AdmitAllThatSomethingIsReclaimedFor, ()) {
  const TestCluster cluster = any_cluster();
  constexpr std::array kModes = {farm::Mode::kProportional, farm::Mode::kFairShare};
  const ManagerObject manager{
      .policy = {.mode = kModes.at(static_cast<std::size_t>(up_to(1))), .pending_pods = up_to(2)}};
  QuotaFacts quota{.hard = {{"pods", 5 + up_to(9)}, {"cpu", 5000 + 1000 * up_to(9)}},
                   .used = {{"pods", 6}, {"cpu", 6000}}};
  QuotasByNamespace quotas;
  quotas["astro"].emplace_back(kube::ObjectKey{"astro", "q"}, std::make_shared<const QuotaFacts>(quota));
  Pass pass = test_pass(cluster, kTestNow, {"", "all"}, std::make_shared<const ManagerObject>(manager));
  pass.decision = farm::decide(pass.cluster.state, pass.policy);
  heed_quotas(pass, quotas, [&](const std::string& in_namespace) { return quotas[in_namespace]; });

  RC_ASSERT(cuts_by_quotas(pass, quotas).empty());
  const auto is_in_astro = [&](std::int32_t f) {
    return pass.farm_key(static_cast<std::size_t>(f)).in_namespace == "astro";
  };
  const auto& reclaims = pass.decision.reclaims;
  if (std::ranges::none_of(reclaims, [&](const auto& reclaim) { return is_in_astro(reclaim.for_farm); })) return;
  bool makes = false;
  for (const farm::Creation& creation : pass.decision.creations) {
    if (creation.shows_missing || !is_in_astro(creation.farm)) continue;
    makes = true;
    quota.used["pods"] += 1;
    quota.used["cpu"] += pass.farm(static_cast<std::size_t>(creation.farm)).needs->requests.at("cpu");
  }
  RC_ASSERT(!makes || (quota.used["pods"] <= quota.hard["pods"] && quota.used["cpu"] <= quota.hard["cpu"]));
}

}  // namespace
}  // namespace podere::controller
