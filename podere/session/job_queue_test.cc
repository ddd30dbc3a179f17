#include "podere/session/job_queue.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::session {
namespace {

const Json kJob = {{"kind", "describe"}};

TEST(JobQueue, GivesJobsInTheOrderInWhichTheyCame) {
  JobQueue queue;
  EXPECT_FALSE(queue.next(0));
  queue.add({1, "x"}, kJob);
  queue.add({2, "x"}, kJob);
  EXPECT_EQ(queue.next(0)->by.client, 1);
  EXPECT_EQ(queue.next(0)->number, 2);
  EXPECT_FALSE(queue.next(0));
}

TEST(JobQueue, WhatWaitsIsDroppedAndWhatRunsIsAskedToStop) {
  JobQueue queue;
  queue.add({1, "x"}, kJob);
  queue.add({1, "y"}, kJob);
  queue.add({2, "y"}, kJob);
  queue.next(0);
  const auto dropped = queue.cancel_of(1, std::nullopt);
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].id, "y");
  EXPECT_TRUE(queue.is_cancelled(1));
  EXPECT_EQ(queue.next(0)->number, 3);
  EXPECT_THROW(queue.cancel(4), InputError);
}

TEST(JobQueue, KnowsWhatBecameOfJobs) {
  JobQueue queue;
  queue.add({1, 1}, kJob);
  queue.add({1, 2}, Json(7));
  queue.next(0);
  queue.note_step(1, {"read", 3, 9, {}});
  queue.note_line(1, "a word");
  queue.finish(1, JobQueue::State::kFailed, "no file");
  const Json jobs = queue.describe();
  EXPECT_EQ(jobs[0]["state"], "failed");
  EXPECT_EQ(jobs[0]["message"], "no file");
  EXPECT_EQ(jobs[0]["progress"]["done"], 3);
  EXPECT_EQ(jobs[1]["state"], "waiting");
  EXPECT_TRUE(queue.describe(1)["log"][0].get<std::string>().ends_with(": a word"));
}

TEST(JobQueue, ForgetsTheOldestOfMany) {
  JobQueue queue;
  for (int i = 0; i < 1500; ++i) {
    queue.add({1, i}, kJob);
    queue.finish(queue.next(0)->number, JobQueue::State::kDone);
  }
  EXPECT_EQ(queue.describe().size(), 1000U);
  EXPECT_EQ(queue.describe().back()["job"], 1500);
}

TEST(JobQueue, KeepsTheFiguresOfExecutorsOfTheLastJobsOnly) {
  JobQueue queue;
  for (int i = 0; i < 20; ++i) {
    queue.add({1, i}, kJob);
    queue.finish(queue.next(0)->number, JobQueue::State::kDone, "", {{"job", {{"kind", "train"}}}, {"tasks", {1, 2}}});
  }
  EXPECT_TRUE(queue.describe(1)["metrics"].contains("job"));
  EXPECT_FALSE(queue.describe(4)["metrics"].contains("tasks"));
  EXPECT_TRUE(queue.describe(5)["metrics"].contains("tasks"));
}

TEST(JobQueue, DropsManyAtOnce) {
  JobQueue queue;
  for (int i = 0; i < 100000; ++i) queue.add({1, i}, kJob);
  queue.add({2, 0}, kJob);
  EXPECT_EQ(queue.next(0)->number, 1);
  EXPECT_EQ(queue.cancel_of(1, std::nullopt).size(), 99999U);
  EXPECT_EQ(queue.describe().size(), 1002U);  // with the one that runs and the one that waits
  queue.finish(1, JobQueue::State::kDone);
  EXPECT_EQ(queue.next(0)->number, 100001);
}

}  // namespace
}  // namespace podere::session
