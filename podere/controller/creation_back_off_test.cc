#include "podere/controller/creation_back_off.h"

#include <gtest/gtest.h>

#include <mutex>

#include "podere/controller/test_objects.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

class CreationBackOffTest : public testing::Test {
 protected:
  static Pass pass_at(double now, const TestCluster& cluster) {
    const ClusterView view = cluster.view();
    Pass pass{.key = {"", "all"},
              .now = now,
              .view = view,
              .assignment = {},
              .manager = nullptr,
              .policy = {},
              .owners = find_owners(view)};
    for (std::size_t f = 0; f < view.farms.size(); ++f) pass.scope.farms.push_back(static_cast<std::int32_t>(f));
    pass.cluster = cluster_state(view, pass.owners, pass.scope, now);
    return pass;
  }
  static Json farm(int generation = 1) {
    Json farm = test_farm("astro", "a", 2, 2);
    farm["metadata"]["generation"] = generation;
    return farm;
  }
  static Json finished_pod(const std::string& name, double seconds_ago) {
    Json pod = test_pod("astro", name, "farm-a", "node", seconds_ago + 100);
    pod["status"]["phase"] = "Failed";
    const std::string time = time_text(kTestNow - seconds_ago);
    pod["status"]["containerStatuses"] = {
        {{"name", "main"}, {"state", {{"terminated", {{"exitCode", 1}, {"finishedAt", time}}}}}}};
    return pod;
  }
  /// The farm's pods are refused in a pass at that time.
  void refuse(double now, const TestCluster& cluster, const std::string& why = "exceeded quota") {
    Pass pass = pass_at(now, cluster);
    pass.result.refusals[0] = why;
    back_off_.note_refusals(pass);
    EXPECT_TRUE(pass.blocked_because.contains("farm-a"));
  }
  static constexpr const char* kFull = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
  void quota(std::int64_t hard, std::int64_t used) {
    const QuotaFacts facts{.hard = {{"pods", hard}}, .used = {{"pods", used}}};
    quotas_["astro"] = {{{"astro", "small"}, std::make_shared<const QuotaFacts>(facts)}};
  }
  bool is_blocked(double now, const TestCluster& cluster) {
    Pass pass = pass_at(now, cluster);
    back_off_.find(pass, quotas_);
    return pass.scope.blocked.contains("farm-a");
  }

  std::mutex mutex_;
  std::vector<std::string> requests_;
  HttpTestServer server_{[this](const std::string& request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
    return kube::json_answer(Json::object());
  }};
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  Writer writer_{client_, [] { return true; }, metrics_};
  QuotasByNamespace quotas_;
  CreationBackOff back_off_{writer_, [](const std::string& line) { ADD_FAILURE() << line; }};
};

TEST_F(CreationBackOffTest, AFarmThatIsRefusedIsTriedAgainEverLater) {
  TestCluster cluster;
  cluster.add_farm(farm());
  double now = kTestNow;
  for (const double seconds : {5, 10, 20, 40, 80, 160, 300, 300}) {
    refuse(now, cluster);
    EXPECT_TRUE(is_blocked(now + seconds - 0.1, cluster)) << seconds;
    EXPECT_FALSE(is_blocked(now + seconds, cluster)) << seconds;
    now += seconds;
  }
}

TEST_F(CreationBackOffTest, WhatIsThereForShowIsTriedAgainEverLaterAndGoesWherePodsAreRefused) {
  TestCluster cluster;
  cluster.add_farm(farm());
  Json pod = test_pod("astro", "a-0", "farm-a");
  pod["metadata"]["annotations"] = {{kShowsMissing, "true"}};
  cluster.add_pod(pod);
  double now = kTestNow;
  const auto most_shown = [&] {
    Pass pass = pass_at(now, cluster);
    back_off_.find(pass, quotas_);
    return cluster_state(pass.view, pass.owners, pass.scope, now).state.farms[0].most_shown;
  };
  EXPECT_EQ(most_shown(), farm::kNoCeiling);
  for (const double seconds : {5, 10}) {
    Pass pass = pass_at(now, cluster);
    pass.result.unshown = {0};
    back_off_.note_refusals(pass);
    EXPECT_FALSE(pass.scope.blocked.contains("farm-a"));
    now += seconds - 0.1;
    EXPECT_EQ(most_shown(), 1) << "those that are there";
    now += 0.1;
    EXPECT_EQ(most_shown(), farm::kNoCeiling);
  }
  refuse(now, cluster);
  EXPECT_EQ(most_shown(), 0);
}

TEST_F(CreationBackOffTest, AQuotaIsNamed) {
  TestCluster cluster;
  cluster.add_farm(farm());
  Pass pass = pass_at(kTestNow, cluster);
  pass.result.refusals[0] =
      "create pod astro/a-0: pods \"a-0\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, "
      "limited: "
      "pods=2 (HTTP status 403)";
  back_off_.note_refusals(pass);
  EXPECT_EQ(pass.blocked_because["farm-a"],
            "exceeded quota: small: requested: pods=1, used: pods=2, limited: pods=2 (HTTP status 403)");
}

TEST_F(CreationBackOffTest, WhatAQuotaRefusedIsTriedAtOnceWhenItWasFullAndAdmitsIt) {
  TestCluster cluster;
  cluster.add_farm(farm());
  for (int i = 0; i < 6; ++i) refuse(kTestNow, cluster, kFull);
  quota(2, 1);  // the watch is behind
  EXPECT_TRUE(is_blocked(kTestNow + 1, cluster));
  EXPECT_TRUE(is_blocked(kTestNow + 2, cluster));
  quota(2, 2);
  EXPECT_TRUE(is_blocked(kTestNow + 3, cluster));
  quota(3, 2);  // it is raised
  EXPECT_FALSE(is_blocked(kTestNow + 4, cluster));
  EXPECT_FALSE(is_blocked(kTestNow + 5, cluster)) << "it was tried";

  refuse(kTestNow + 6, cluster, kFull);  // others were first
  EXPECT_TRUE(is_blocked(kTestNow + 7, cluster));
  quota(3, 3);
  EXPECT_TRUE(is_blocked(kTestNow + 8, cluster));
  quotas_.clear();
  EXPECT_FALSE(is_blocked(kTestNow + 9, cluster));
}

TEST_F(CreationBackOffTest, OfAGangAllIsAdmittedBeforeItIsTriedAgain) {
  Json gang = farm();
  gang["spec"]["gang"] = true;
  gang["spec"]["executors"] = gang["spec"]["minExecutors"] = 4;
  TestCluster cluster;
  cluster.add_farm(gang);
  quota(3, 3);
  for (int i = 0; i < 6; ++i) refuse(kTestNow, cluster, kFull);
  EXPECT_TRUE(is_blocked(kTestNow + 1, cluster));
  quota(3, 0);  // what was made of it went
  EXPECT_TRUE(is_blocked(kTestNow + 2, cluster));
  quota(4, 0);
  EXPECT_FALSE(is_blocked(kTestNow + 3, cluster));
}

TEST_F(CreationBackOffTest, AQuotaIsNoMatterOfATemplateThatIsRefused) {
  TestCluster cluster;
  cluster.add_farm(farm());
  quota(2, 2);
  for (int i = 0; i < 6; ++i) refuse(kTestNow, cluster, "a template that the server does not accept");
  EXPECT_TRUE(is_blocked(kTestNow + 1, cluster));
  quotas_.clear();
  EXPECT_TRUE(is_blocked(kTestNow + 2, cluster));
}

TEST_F(CreationBackOffTest, APassLooksAgainWhenARefusalEnds) {
  TestCluster cluster;
  cluster.add_farm(farm());
  refuse(kTestNow, cluster);
  Pass pass = pass_at(kTestNow + 1, cluster);
  back_off_.find(pass, quotas_);
  EXPECT_DOUBLE_EQ(pass.next_look, kTestNow + 5);
  EXPECT_EQ(pass.blocked_because.at("farm-a"), "the API server makes no pods of it: exceeded quota");
  EXPECT_TRUE(pass.refused_before.contains("farm-a"));
}

TEST_F(CreationBackOffTest, AFarmThatWasChangedIsTriedAtOnceAndFromTheFirstDelay) {
  TestCluster before;
  before.add_farm(farm());
  for (int i = 0; i < 4; ++i) refuse(kTestNow, before);
  TestCluster after;
  after.add_farm(farm(2));
  EXPECT_FALSE(is_blocked(kTestNow + 0.1, after));
  refuse(kTestNow + 1, after);
  EXPECT_TRUE(is_blocked(kTestNow + 5.9, after));
  EXPECT_FALSE(is_blocked(kTestNow + 6, after));
}

TEST_F(CreationBackOffTest, ARefusalIsForgottenOncePodsAreMadeAndNotWhileNoneIsTried) {
  TestCluster cluster;
  cluster.add_farm(farm());
  for (int i = 0; i < 4; ++i) refuse(kTestNow, cluster);
  Pass blocked = pass_at(kTestNow + 1, cluster);
  back_off_.find(blocked, quotas_);
  back_off_.note_refusals(blocked);
  EXPECT_TRUE(is_blocked(kTestNow + 39, cluster));

  Pass tried = pass_at(kTestNow + 41, cluster);
  back_off_.find(tried, quotas_);
  back_off_.note_refusals(tried);
  refuse(kTestNow + 42, cluster);
  EXPECT_FALSE(is_blocked(kTestNow + 48, cluster));
}

TEST_F(CreationBackOffTest, AFarmWhoseExecutorsEndByThemselvesWaitsLongerTheMoreDid) {
  TestCluster cluster;
  cluster.add_farm(farm()).add_pod(finished_pod("one", 1));
  EXPECT_TRUE(is_blocked(kTestNow, cluster));
  EXPECT_FALSE(is_blocked(kTestNow + 4, cluster));
  cluster.add_pod(finished_pod("two", 2)).add_pod(finished_pod("long-ago", 700));
  EXPECT_TRUE(is_blocked(kTestNow + 8.9, cluster));
  EXPECT_FALSE(is_blocked(kTestNow + 9, cluster));
}

TEST_F(CreationBackOffTest, OfExecutorsThatEndedTheLastThreeAreKept) {
  TestCluster cluster;
  cluster.add_farm(farm());
  const std::vector<std::string> names{"d", "b", "e", "a", "c"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    cluster.add_pod(finished_pod(names[i], 10 * static_cast<double>(i + 1)));
  }
  is_blocked(kTestNow, cluster);
  const std::scoped_lock lock(mutex_);
  ASSERT_EQ(requests_.size(), 2U);
  EXPECT_EQ(kube::request_line(requests_[0]).substr(0, 39), "DELETE /api/v1/namespaces/astro/pods/a");
  EXPECT_EQ(Json::parse(kube::body_of(requests_[0])).at("preconditions").at("uid"), "uid-a");
  EXPECT_EQ(kube::request_line(requests_[1]).substr(0, 39), "DELETE /api/v1/namespaces/astro/pods/c");
}

}  // namespace
}  // namespace podere::controller
