#include "podere/report/live_runs.h"

#include <gtest/gtest.h>

#include <thread>

namespace podere::report {
namespace {

Json run_of(const LiveRuns& runs, std::int64_t job) { return Json::parse(runs.text(job).value()); }

TEST(LiveRuns, GrowAndEnd) {
  LiveRuns runs;
  EXPECT_TRUE(runs.state(1).is_null());
  EXPECT_FALSE(runs.text(1));
  runs.begin(1, {"train gbt m.json", "train", "podere train gbt a.csv -o m.json"});
  const Json first = runs.state(1);
  runs.report(1, {"train", 1, 5, {{"loss", 0.5}}});
  runs.warn(1, "lost executor 1");
  EXPECT_GT(runs.state(1).at("revision"), first.at("revision"));
  Json run = run_of(runs, 1);
  EXPECT_EQ(run.at("name"), "train gbt m.json");
  EXPECT_EQ(run.at("job"), 1);
  EXPECT_EQ(run.at("state"), "running");
  EXPECT_FALSE(run.contains("result"));
  EXPECT_EQ(run.at("curves").at(0).at("metrics").at("loss").at(0), 0.5);
  EXPECT_EQ(run.at("events").at(0).at("message"), "lost executor 1");

  runs.end(1, {{"facts", {{"rows", 7}}}, {"model", "..."}});
  run = run_of(runs, 1);
  EXPECT_EQ(run.at("state"), "done");
  EXPECT_EQ(run.at("result").at("rows"), 7);
  EXPECT_EQ(run_of(runs, 1), run);  // its time stands still
}

TEST(LiveRuns, SayHowAJobWithoutAResultEnded) {
  LiveRuns runs;
  runs.begin(3, {"train", "train", ""});
  runs.end(3, nullptr, "failed");
  EXPECT_EQ(run_of(runs, 3).at("state"), "failed");
  EXPECT_FALSE(run_of(runs, 3).contains("result"));
}

TEST(LiveRuns, TheOldestGoFirst) {
  LiveRuns runs(2000);
  runs.begin(1, {"still runs", "train", ""});
  for (std::int64_t job = 2; job < 10; ++job) {
    runs.begin(job, {std::string(500, 'x'), "train", ""});
    runs.end(job, {{"rows", job}});
  }
  EXPECT_TRUE(runs.text(1));
  EXPECT_FALSE(runs.text(2));
  EXPECT_TRUE(runs.state(2).is_null());
  EXPECT_TRUE(runs.text(9));
}

TEST(LiveRuns, FiguresOfExecutorsStayForTheLastJobs) {
  LiveRuns runs;
  const auto has_tasks = [&](std::int64_t job) {
    return run_of(runs, job).at("result").at("metrics").contains("tasks");
  };
  for (std::int64_t job = 1; job <= 17; ++job) {
    runs.begin(job, {"train", "train", ""});
    runs.end(job, {{"metrics", {{"phases", Json::array()}, {"tasks", {1, 2, 3}}}}});
  }
  EXPECT_FALSE(has_tasks(1));
  EXPECT_TRUE(has_tasks(2));
  EXPECT_TRUE(has_tasks(17));
}

TEST(LiveRuns, AreReadWhileTheyAreWritten) {
  LiveRuns runs;
  runs.begin(1, {"train", "train", ""});
  std::jthread writer([&] {
    for (std::size_t i = 1; i <= 2000; ++i)
      runs.report(1, {"train", i, 2000, {{"loss", 1.0 / static_cast<double>(i)}}});
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run_of(runs, 1).at("state"), "running");
}

}  // namespace
}  // namespace podere::report
