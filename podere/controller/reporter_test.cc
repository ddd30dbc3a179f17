#include "podere/controller/reporter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "podere/controller/test_objects.h"
#include "podere/http/metrics.h"
#include "podere/kube/test_api.h"

namespace podere::controller {
namespace {

class ReporterTest : public testing::Test {
 protected:
  /// A pass over farms without a manager, of which astro/a is blocked for that reason; empty: it is not.
  void report(const TestCluster& cluster, double now, const std::string& blocked_because) {
    Pass pass = test_pass(cluster, now);
    pass.decision = farm::decide(pass.cluster.state, pass.policy);
    if (!blocked_because.empty()) pass.blocked_because["farm-a"] = blocked_because;
    reporter_->report(pass);
  }
  void report(const std::string& blocked_because) {
    TestCluster cluster;
    cluster.add_node(test_node("node", 4)).add_farm(test_farm("astro", "a", 2, 0));
    report(cluster, kTestNow, blocked_because);
  }
  /// The status that a pass writes of a manager of all farms, or of astro/a, of which for that reason no more than
  /// `n_made` are made.
  Json status_of(const std::string& path, const TestCluster& cluster, const std::string& blocked_because = "",
                 const std::vector<farm::Ceiling>& ceilings = {}, int n_made = 0) {
    Pass pass =
        test_pass(cluster, kTestNow, {"", "all"},
                  std::make_shared<const ManagerObject>(manager_object_of(
                      {{"metadata", {{"name", "all"}, {"uid", "all"}, {"generation", 1}}}, {"spec", Json::object()}})));
    pass.cluster.state.ceilings = ceilings;
    if (!blocked_because.empty()) {
      pass.blocked_because["farm-a"] = blocked_because;
      pass.cluster.state.farms[0].most_made = n_made;
    }
    pass.decision = farm::decide(pass.cluster.state, pass.policy);
    reporter_->report(pass);
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::scoped_lock lock(mutex_);
      if (statuses_written_.contains(path)) return statuses_written_.at(path);
    }
    return Json::object();
  }
  static const Json& condition(const Json& status, const std::string& type) {
    return *std::ranges::find_if(status.at("conditions"), [&](const Json& one) { return one.at("type") == type; });
  }
  /// What was written once all that waits was.
  std::vector<Json> events() {
    recorder_.reset();
    const std::scoped_lock lock(mutex_);
    return written_;
  }

  std::mutex mutex_;
  std::vector<Json> written_;
  std::map<std::string, Json> statuses_written_;  // by the end of the path
  HttpTestServer server_{[this](const std::string& request) {
    const std::scoped_lock lock(mutex_);
    if (kube::request_line(request).find("/events") != std::string::npos) {
      written_.push_back(Json::parse(kube::body_of(request)));
    }
    for (const char* const path : {"farms/a", "farmmanagers/all"}) {
      if (kube::request_line(request).find(std::string(path) + "/status") == std::string::npos) continue;
      statuses_written_[path] = Json::parse(kube::body_of(request)).at("status");
    }
    return kube::json_answer({{"metadata", {{"name", "any"}}}});
  }};
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  Writer writer_{client_, [] { return true; }, metrics_};
  StatusWriter statuses_{writer_, [](const StatusSubject&) { return true; }, [](const std::string&) {}};
  std::unique_ptr<kube::EventRecorder> recorder_ =
      std::make_unique<kube::EventRecorder>(client_, kube::EventRecorderOptions{.component = "test"});
  std::unique_ptr<Reporter> reporter_ = std::make_unique<Reporter>(statuses_, *recorder_, metrics_);
};

TEST_F(ReporterTest, TroubleThatLastsIsOneEvent) {
  for (int i = 0; i < 3; ++i) report("exceeded quota");
  const auto written = events();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].at("reason"), "NoPodsAreMade");
  EXPECT_EQ(written[0].at("type"), "Warning");
  EXPECT_EQ(written[0].at("message"), "exceeded quota");
  EXPECT_EQ(written[0].value("count", 1), 1);
}

TEST_F(ReporterTest, AQuotaThatIsExceededIsItsOwnReason) {
  report("exceeded quota: small: used: pods=2, limited: pods=2");
  const auto written = events();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].at("reason"), "QuotaExceeded");
}

TEST_F(ReporterTest, AFarmWithoutTroubleIsNoEvent) {
  report("");
  EXPECT_TRUE(events().empty());
}

TEST_F(ReporterTest, AGuaranteeForWhichRoomHadToBeMadeIsReportedOnceItIsMet) {
  TestCluster full;
  full.add_node(test_node("node", 1)).add_farm(test_farm("astro", "a", 1, 1)).add_farm(test_farm("hep", "b", 1, 0));
  TestCluster served = full;
  full.add_pod(test_pod("hep", "b-0", "farm-b", "node"));
  served.add_pod(test_pod("astro", "a-0", "farm-a", "node"));
  report(full, kTestNow, "");
  report(full, kTestNow + 7, "");
  for (const double now : {kTestNow + 20, kTestNow + 30}) report(served, now, "");
  EXPECT_NE(http::prometheus_text(metrics_.families()).find("podere_operator_time_to_guarantee_seconds_sum 20"),
            std::string::npos)
      << http::prometheus_text(metrics_.families());
  const auto written = events();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].at("reason"), "GuaranteeMet");
  EXPECT_EQ(written[0].at("involvedObject").at("name"), "a");
  EXPECT_TRUE(written[0].at("message").get<std::string>().ends_with("after 20 s")) << written[0].at("message");
}

TEST_F(ReporterTest, AGuaranteeThatIsMetAtOnceIsNoNews) {
  TestCluster cluster;
  cluster.add_node(test_node("node", 1)).add_farm(test_farm("astro", "a", 1, 1));
  report(cluster, kTestNow, "");  // its executor starts
  cluster.add_pod(test_pod("astro", "a-0", "farm-a", "node"));
  report(cluster, kTestNow + 3, "");
  EXPECT_NE(http::prometheus_text(metrics_.families()).find("podere_operator_time_to_guarantee_seconds_count 1"),
            std::string::npos);
  EXPECT_TRUE(events().empty());
}

TEST_F(ReporterTest, GuaranteesThatNoNodeCouldHoldDoNotFit) {
  TestCluster cluster;
  Json large = test_farm("astro", "a", 3, 2);
  large["spec"]["template"]["spec"] = test_pod_spec("64");
  cluster.add_node(test_node("node", 4)).add_farm(large).add_farm(test_farm("hep", "b", 1, 1));
  const Json fits = condition(status_of("farmmanagers/all", cluster), "GuaranteesFit");
  EXPECT_EQ(fits.at("status"), "False");
  EXPECT_EQ(fits.at("reason"), "FitsNowhere");
  EXPECT_EQ(fits.at("message"), "guarantees requested 3, 2 of which no node could hold (astro/a)");
}

TEST_F(ReporterTest, GangsThatDoNotFitInWholeDoNotFit) {
  TestCluster cluster;
  Json gang = test_farm("astro", "a", 4, 4);
  gang["spec"]["gang"] = true;
  cluster.add_node(test_node("node", 4)).add_farm(gang);
  const std::vector<farm::Ceiling> ceilings = {{"the course", {0}, 2}};
  const Json fits = condition(status_of("farmmanagers/all", cluster, "", ceilings), "GuaranteesFit");
  EXPECT_EQ(fits.at("reason"), "NoRoomForGang");
  EXPECT_EQ(fits.at("message"),
            "guarantees requested 2, 2 of gangs that do not fit in whole (astro/a), and 2 above ceilings, which do not "
            "count");
  const Json status = status_of("farms/a", cluster, "", ceilings);
  EXPECT_EQ(condition(status, "Ready").at("reason"), "NoRoomForGang");
  EXPECT_EQ(condition(status, "GuaranteeMet").at("reason"), "NoRoomForGang");
}

TEST_F(ReporterTest, AFarmWhosePodsAreRefusedDoesNotHaveWhatItIsGuaranteed) {
  TestCluster cluster;
  cluster.add_node(test_node("node", 4)).add_farm(test_farm("astro", "a", 2, 2)).add_farm(test_farm("hep", "b", 0, 0));
  const Json status = status_of("farmmanagers/all", cluster, "exceeded quota: small");
  EXPECT_EQ(status.at("message"), "1 of 2 farms have what they are guaranteed, as far as they want it");
}

TEST_F(ReporterTest, TheStatusOfAFarmWhosePodsAreRefusedNamesItsCeilingToo) {
  TestCluster cluster;
  cluster.add_node(test_node("node", 4)).add_farm(test_farm("astro", "a", 8, 7));
  const Json status = status_of("farms/a", cluster, "exceeded quota: small",
                                {{.name = "namespace astro on FarmManager all", .farms = {0}, .guaranteed = 2}});
  EXPECT_EQ(status.at("message"),
            "0 of 8 executors running. 8 pending: exceeded quota: small; minExecutors 7 counts as 2: the ceiling of "
            "namespace "
            "astro on FarmManager all");
}

TEST_F(ReporterTest, TheStatusOfAFarmWithRefusedExecutorsSaysWhatTheOthersWaitFor) {
  TestCluster cluster;
  cluster.add_node(test_node("n", 2)).add_farm(test_farm("astro", "a", 5, 5)).add_farm(test_farm("hep", "b", 2, 0));
  for (const char* const name : {"b-0", "b-1"}) cluster.add_pod(test_pod("hep", name, "farm-b", "n"));
  const Json status = status_of("farms/a", cluster, "exceeded quota: small", {}, 2);
  EXPECT_EQ(status.at("message"),
            "0 of 5 executors running. 2 guaranteed pending: reclaiming from hep/b (2), done within 60 s. 3 pending: "
            "exceeded quota: small");
  EXPECT_EQ(condition(status, "Ready").at("reason"), "WaitsForDrain");
  EXPECT_EQ(condition(status, "Valid").at("reason"), "QuotaExceeded");
}

TEST_F(ReporterTest, ReportsOfFarmsThatHaveGoneAreForgotten) {
  report("exceeded quota");
  for (int i = 0; i < 100; ++i) {  // others come and go
    TestCluster cluster;
    cluster.add_node(test_node("node", 4)).add_farm(test_farm("astro", fmt::format("f{}", i), 2, 0));
    report(cluster, kTestNow, "");
  }
  report("exceeded quota");  // one that was made anew, as far as is known
  const auto written = events();
  ASSERT_FALSE(written.empty());
  EXPECT_EQ(written.back().value("count", 1), 2);
}

}  // namespace
}  // namespace podere::controller
