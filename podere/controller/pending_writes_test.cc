#include "podere/controller/pending_writes.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

const kube::ObjectKey kA{"hep", "a"};
constexpr double kDeadline = kTestNow + 60;

class PendingWritesTest : public testing::Test {
 protected:
  std::shared_ptr<const PodFacts> pod(const std::string& uid, const std::string& node = "n1") {
    Json json = test_pod("hep", "a", "farm-cms", node);
    json["metadata"]["uid"] = uid;
    return std::make_shared<const PodFacts>(pod_facts_of(json, table_));
  }
  std::shared_ptr<const PodFacts> changed(const std::string& uid, bool is_reclaimed, bool is_ending) {
    PodFacts facts = *pod(uid);
    facts.is_reclaimed = is_reclaimed;
    facts.is_ending = is_ending;
    return std::make_shared<const PodFacts>(facts);
  }
  Objects<PodFacts> seen(const std::shared_ptr<const PodFacts>& a) {
    Objects<PodFacts> all = {{{"hep", "0"}, pod("before")}};
    if (a != nullptr) all.emplace_back(kA, a);
    all.emplace_back(kube::ObjectKey{"hep", "z"}, pod("after"));
    return all;
  }
  /// What is there at A; null if nothing.
  std::shared_ptr<const PodFacts> at_a(const std::shared_ptr<const PodFacts>& as_seen) {
    const auto all = pending_.overlay(seen(as_seen));
    EXPECT_EQ(all.front().first.name, "0");
    EXPECT_EQ(all.back().first.name, "z");
    return all.size() == 3 ? all[1].second : nullptr;
  }

  NeedsTable table_;
  PendingWrites pending_;
};

TEST_F(PendingWritesTest, APodThatWasMadeIsThereBeforeItIsSeen) {
  pending_.created(kA, pod("1", ""), kTestNow);
  ASSERT_NE(at_a(nullptr), nullptr);
  EXPECT_EQ(at_a(pod("0"))->uid, "1") << "the one of that name before it has gone";
  EXPECT_EQ(at_a(pod("1"))->uid, "1");
  EXPECT_EQ(pending_.size(), 0U) << "it was seen";
  EXPECT_EQ(at_a(nullptr), nullptr);
}

TEST_F(PendingWritesTest, APodIsReclaimedOnlyOnce) {
  pending_.reclaimed(kA, "1", {"hep/geo", false, kDeadline}, kTestNow);
  EXPECT_TRUE(at_a(pod("1"))->is_reclaimed);
  EXPECT_EQ(at_a(pod("1"))->reclaimed.for_farm, "hep/geo");
  pending_.deleted(kA, "1", kDeadline, kTestNow);
  EXPECT_TRUE(at_a(pod("1"))->is_ending);
  EXPECT_TRUE(at_a(changed("1", true, false))->is_ending) << "of two writes one was seen";
  EXPECT_EQ(pending_.size(), 1U);
  EXPECT_TRUE(at_a(changed("1", true, true))->is_ending);
  EXPECT_EQ(pending_.size(), 0U);
}

TEST_F(PendingWritesTest, APodWithoutANodeIsGoneWhenItIsDeleted) {
  pending_.deleted(kA, "1", kDeadline, kTestNow);
  EXPECT_EQ(at_a(pod("1", "")), nullptr);
  EXPECT_EQ(pending_.size(), 1U);
  EXPECT_EQ(at_a(nullptr), nullptr);
  EXPECT_EQ(pending_.size(), 0U);
}

TEST_F(PendingWritesTest, AWriteToAPodDoesNotReachItsSuccessor) {
  pending_.deleted(kA, "1", kDeadline, kTestNow);
  EXPECT_FALSE(at_a(pod("2"))->is_ending);
  EXPECT_EQ(pending_.size(), 0U);
}

TEST_F(PendingWritesTest, WhatIsNotSeenForLongIsAskedFor) {
  pending_.reclaimed(kA, "1", {"hep/geo", true, kDeadline}, kTestNow);
  EXPECT_TRUE(pending_.in_doubt(kTestNow + 9, 10).empty());
  EXPECT_EQ(pending_.in_doubt(kTestNow + 11, 10), std::vector<kube::ObjectKey>{kA});
  pending_.settle(kA, changed("1", true, true), kTestNow + 11);
  EXPECT_TRUE(at_a(pod("1"))->is_reclaimed) << "the store is behind the server's answer";
  EXPECT_TRUE(at_a(pod("1"))->is_ending);
  pending_.settle(kA, nullptr, kTestNow + 11);
  EXPECT_EQ(pending_.size(), 0U);
}

TEST_F(PendingWritesTest, AWriteWithoutAnAnswerIsInDoubtUntilTheServerWasAsked) {
  pending_.reclaimed(kA, "1", {"hep/geo", true, kDeadline}, kTestNow);
  pending_.perhaps_written(kA, "1", kTestNow);  // its deletion
  EXPECT_TRUE(at_a(changed("1", true, false))->is_reclaimed);
  EXPECT_EQ(pending_.in_doubt(kTestNow, 10), std::vector<kube::ObjectKey>{kA}) << "though the first write was seen";
  pending_.settle(kA, changed("1", true, true), kTestNow);
  EXPECT_TRUE(pending_.in_doubt(kTestNow, 10).empty());
  EXPECT_TRUE(at_a(changed("1", true, false))->is_ending) << "the store is behind the server's answer";
}

TEST_F(PendingWritesTest, ACreationWithoutAnAnswerIsInDoubtAtOnce) {
  pending_.perhaps_created(kA, kTestNow);
  EXPECT_EQ(at_a(nullptr), nullptr);
  EXPECT_EQ(pending_.in_doubt(kTestNow, 10), std::vector<kube::ObjectKey>{kA});
  pending_.settle(kA, pod("1", ""), kTestNow);
  EXPECT_EQ(at_a(nullptr)->uid, "1");
}

}  // namespace
}  // namespace podere::controller
