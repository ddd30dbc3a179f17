#include "podere/controller/actions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>

#include "podere/base/interrupt.h"
#include "podere/controller/test_objects.h"
#include "podere/kube/test_api.h"
#include "podere/kube/time.h"

namespace podere::controller {
namespace {

/// Farm a has executors "one" and "two" of borrowed room, farm b none; the API server answers as scripted.
class ActionsTest : public testing::Test {
 protected:
  ActionsTest() {
    cluster_.add_node(test_node("node", 4))
        .add_farm(test_farm("astro", "a", 2, 0))
        .add_farm(test_farm("astro", "b", 2, 2))
        .add_pod(test_pod("astro", "one", "farm-a", "node"))
        .add_pod(test_pod("astro", "two", "farm-a", "node"));
    decision_.outlooks.resize(2);
  }
  ActionResult carry_out(const std::set<std::string>& refused_before = {}) {
    const ClusterView view = cluster_.view();
    ClusterState state = cluster_.state();
    state.state.now = now_;
    return actions_.carry_out({view, state, decision_, refused_before});
  }
  farm::Reclaim reclaim(double seconds) const { return {0, 0, 1, true, now_ + seconds}; }
  std::vector<std::string> requests(const std::string& method) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& request : requests_) {
      const bool is_about_pods = kube::request_line(request).find("/events") == std::string::npos;
      if (is_about_pods && request.starts_with(method + " ")) found.push_back(request);
    }
    return found;
  }
  void answer(const std::string& method, int status) {
    const std::scoped_lock lock(mutex_);
    statuses_[method] = status;
  }

  const double now_ = std::chrono::duration<double>(kube::now().time_since_epoch()).count();
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::map<std::string, int> statuses_;
  HttpTestServer server_{[this](const std::string& request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
    const auto status = statuses_.find(request.substr(0, request.find(' ')));
    if (status != statuses_.end()) return kube::error_answer(status->second, "Scripted");
    if (!request.starts_with("POST ")) return kube::json_answer(Json::object());
    Json made = Json::parse(kube::body_of(request));
    made["metadata"]["uid"] = "uid-made";
    return kube::json_answer(made);
  }};
  kube::Client client_{kube::access_to(server_), {.max_retries = 0}};
  Metrics metrics_;
  bool may_write_ = true;
  Writer writer_{client_, [this] { return may_write_; }, metrics_};
  kube::EventRecorder events_{client_, {.component = "test"}};
  NeedsTable needs_;
  PendingWrites pending_;
  Actions actions_{writer_, pending_, needs_, events_, metrics_, {"guaranteed", 1}};
  TestCluster cluster_;
  farm::Decision decision_;
};

TEST_F(ActionsTest, AReclaimedPodIsAnnotatedAndDeletedByUidWithTheTimeToDrain) {
  decision_.reclaims = {reclaim(60)};
  EXPECT_TRUE(carry_out().failures.empty());
  const auto patches = requests("PATCH");
  ASSERT_EQ(patches.size(), 1U);
  const Json metadata = Json::parse(kube::body_of(patches[0])).at("metadata");
  EXPECT_EQ(metadata.at("uid"), "uid-one");
  EXPECT_EQ(metadata.at("annotations").at(kReclaimedFor), "astro/b");
  const auto deletes = requests("DELETE");
  ASSERT_EQ(deletes.size(), 1U);
  const Json options = Json::parse(kube::body_of(deletes[0]));
  EXPECT_EQ(options.at("preconditions").at("uid"), "uid-one");
  EXPECT_GE(options.at("gracePeriodSeconds"), 55);
  EXPECT_LE(options.at("gracePeriodSeconds"), 60);
}

TEST_F(ActionsTest, APodThatCouldNotBeAnnotatedIsNotDeleted) {
  decision_.reclaims = {reclaim(60)};
  answer("PATCH", 500);
  EXPECT_EQ(carry_out().failures.size(), 1U);
  EXPECT_TRUE(requests("DELETE").empty());
  EXPECT_EQ(pending_.in_doubt(now_ + 1, 1000).size(), 1U);
}

TEST_F(ActionsTest, ADeleteWithUnknownOutcomeIsAskedForBeforeAnythingElse) {
  decision_.removals = {{0, now_ + 60, true}};
  answer("DELETE", 500);
  EXPECT_EQ(carry_out().failures.size(), 1U);
  EXPECT_EQ(pending_.in_doubt(now_ + 1, 1000), (std::vector<kube::ObjectKey>{{"astro", "one"}}));
}

TEST_F(ActionsTest, APodThatHasGoneIsNoFailure) {
  decision_.removals = {{0, now_ + 60, true}};
  answer("DELETE", 404);
  EXPECT_TRUE(carry_out().failures.empty());
  EXPECT_EQ(pending_.size(), 0U);
}

TEST_F(ActionsTest, NothingIsReclaimedForAFarmWhosePodsAreRefused) {
  decision_.reclaims = {reclaim(60)};
  decision_.creations = {{1, -1, false, true}};
  answer("POST", 403);
  EXPECT_TRUE(carry_out().refusals.contains(1));
  EXPECT_TRUE(requests("PATCH").empty());
  EXPECT_TRUE(requests("DELETE").empty());
}

TEST_F(ActionsTest, ExecutorsThatAwaitADrainAreOnlyAskedAboutOnceAFarm) {
  decision_.reclaims = {reclaim(60)};
  decision_.creations = {{1, -1, false, true}, {1, -1, false, true}};
  carry_out();
  const auto posts = requests("POST");
  ASSERT_EQ(posts.size(), 1U);
  EXPECT_NE(kube::request_line(posts[0]).find("dryRun=All"), std::string::npos);
}

TEST_F(ActionsTest, ExecutorsAreMadeWithTheirPriorityAndNodeAndKnownAtOnce) {
  decision_.creations = {{1, 0, false, false}, {1, -1, true, false}};
  EXPECT_EQ(carry_out().n_written, 2);
  const auto posts = requests("POST");
  ASSERT_EQ(posts.size(), 2U);
  const Json guaranteed = Json::parse(kube::body_of(posts[0]));
  const Json borrowing = Json::parse(kube::body_of(posts[1]));
  EXPECT_EQ(kube::request_line(posts[0]).find("dryRun"), std::string::npos);
  EXPECT_EQ(guaranteed.at("spec").at("priorityClassName"), "guaranteed");
  EXPECT_NE(guaranteed.at("spec").dump().find("\"node\""), std::string::npos) << guaranteed.at("spec");
  EXPECT_FALSE(borrowing.at("spec").contains("priorityClassName"));
  EXPECT_NE(guaranteed.at("metadata").at("name"), borrowing.at("metadata").at("name"));
  EXPECT_EQ(guaranteed.at("metadata").at("ownerReferences").at(0).at("uid"), "farm-b");
  EXPECT_EQ(pending_.size(), 2U);
  EXPECT_TRUE(pending_.in_doubt(now_ + 1, 1000).empty());
}

TEST_F(ActionsTest, PodsForShowAreMadeLastAndTheirRefusalStopsNoOthers) {
  decision_.creations = {{0, -1, true, false, true}, {1, 0, false, false}, {0, -1, true, false, true}};
  carry_out();
  auto posts = requests("POST");
  ASSERT_EQ(posts.size(), 3U);
  const auto shows = [&](const std::string& request) {
    return Json::parse(kube::body_of(request)).at("metadata").dump().find(kShowsMissing) != std::string::npos;
  };
  EXPECT_TRUE(!shows(posts[0]) && shows(posts[1]) && shows(posts[2]));
  answer("POST", 403);
  EXPECT_TRUE(carry_out().refusals.contains(1));
  EXPECT_EQ(requests("POST").size(), 4U) << "none for show where a pod is refused that is needed";
  std::erase_if(decision_.creations, [](const farm::Creation& creation) { return !creation.shows_missing; });
  decision_.reclaims = {{0, 0, 1, true, now_ + 60}};
  const ActionResult result = carry_out();
  EXPECT_TRUE(result.refusals.empty() && result.failures.empty());
  EXPECT_TRUE(result.unshown.contains(0));
  EXPECT_EQ(requests("POST").size(), 5U) << "one is enough to know";
  EXPECT_EQ(requests("PATCH").size(), 1U);
}

TEST_F(ActionsTest, APodThatPerhapsWasMadeIsAskedForAndOneThatWasRefusedIsNot) {
  decision_.creations = {{1, 0, false, false}};
  answer("POST", 403);
  EXPECT_TRUE(carry_out().refusals.contains(1));
  EXPECT_EQ(pending_.size(), 0U);
  answer("POST", 500);
  const ActionResult result = carry_out();
  EXPECT_EQ(result.failures.size(), 1U);
  EXPECT_TRUE(result.refusals.empty());
  EXPECT_EQ(pending_.in_doubt(now_ + 1, 1000).size(), 1U);
}

TEST_F(ActionsTest, AnExecutorThatDrainsEndsWithinTheCeiling) {
  Json farm = test_farm("astro", "a", 2, 0);
  farm["spec"]["drainSeconds"] = 86400;
  cluster_.add_farm(farm);
  decision_.removals = {{0, now_ + 300, true}};
  Json deleted_by_others = test_pod("astro", "two", "farm-a", "node");
  deleted_by_others["metadata"]["deletionTimestamp"] = time_text(now_ + 80000);
  cluster_.add_pod(deleted_by_others);
  Json in_time = test_pod("astro", "three", "farm-b", "node");
  in_time["metadata"]["deletionTimestamp"] = time_text(now_ + 290);
  cluster_.add_pod(in_time);
  carry_out();
  const auto deletes = requests("DELETE");
  ASSERT_EQ(deletes.size(), 2U);
  for (const std::string& request : deletes) {
    const Json options = Json::parse(kube::body_of(request));
    EXPECT_NE(options.at("preconditions").at("uid"), "uid-three");
    EXPECT_GE(options.at("gracePeriodSeconds"), 290);
    EXPECT_LE(options.at("gracePeriodSeconds"), 300);
  }
}

TEST_F(ActionsTest, WhoMayWriteNoLongerWritesNothing) {
  decision_.removals = {{0, now_ + 60, true}};
  may_write_ = false;
  EXPECT_THROW(carry_out(), Interrupted);
  EXPECT_TRUE(requests("DELETE").empty());
}

}  // namespace
}  // namespace podere::controller
