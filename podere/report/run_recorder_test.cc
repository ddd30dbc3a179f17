#include "podere/report/run_recorder.h"

#include <gtest/gtest.h>

namespace podere::report {
namespace {

/// Counts what reaches it.
class Listener : public Progress {
 public:
  void report(const ProgressStep&) override { ++n_reports; }
  void warn(const std::string& message) override { warning = message; }
  bool stop_requested() override { return true; }
  int n_reports = 0;
  std::string warning;
};

TEST(RunRecorder, PassesOnAndKeeps) {
  Listener listener;
  RunRecorder recorder(listener);
  recorder.report({"read", 0, 1, {}});
  recorder.report({"train", 0, 2, {}});
  recorder.report({"train", 1, 2, {{"loss", 0.5}}});
  recorder.warn("lost executor 1");
  EXPECT_EQ(listener.n_reports, 3);
  EXPECT_EQ(listener.warning, "lost executor 1");
  EXPECT_TRUE(recorder.stop_requested());

  const Json run = recorder.run("train", "podere train gbt a.csv", {{"facts", {{"rows", 7}}}, {"model", "..."}});
  EXPECT_EQ(run.at("state"), "done");
  EXPECT_EQ(run.at("result"), Json({{"rows", 7}}));
  ASSERT_EQ(run.at("phases").size(), 2);
  EXPECT_EQ(run["phases"][1]["phase"], "train");
  EXPECT_EQ(run["phases"][0]["end"], run["phases"][1]["begin"]);
  EXPECT_EQ(run["phases"][1]["end"], run["seconds"]);
  ASSERT_EQ(run.at("events").size(), 1);
  EXPECT_EQ(run["events"][0]["message"], "lost executor 1");
  EXPECT_EQ(run.at("curves").at(0).at("done"), Json({0, 1}));
}

TEST(RunRecorder, WhatExecutorsMadeBelongsToTheRun) {
  Listener listener;
  RunRecorder recorder(listener);
  recorder.report({"train", 2, 2, {{"loss", 0.5}}});
  Curve curve;
  for (const std::size_t i : {0, 1, 2}) curve.add({"train", i, 2, {{"loss", 1}}}, 0);
  const Json facts = {{"was_stopped", true},
                      {"report", {{"model", {{"objective", "logistic"}}}, {"curve", curve.to_json()}}}};
  const Json run = recorder.run("train", "", facts);
  EXPECT_EQ(run.at("state"), "interrupted");
  EXPECT_EQ(run.at("model").at("objective"), "logistic");
  EXPECT_EQ(run.at("curves").at(0).at("done"), Json({0, 1, 2}));
  EXPECT_FALSE(run.contains("curve"));
  EXPECT_FALSE(run.at("result").contains("report"));
}

TEST(RunRecorder, HasTheTrialsOfASearchThatRuns) {
  Listener listener;
  RunRecorder recorder(listener);
  const auto report = [&](std::size_t done, const std::string& score, const Json& trials) {
    ProgressStep step{"tune", done, 3, {}, "trial"};
    step.search = {{"score", score}, {"trials", trials}};
    recorder.report(step);
  };
  report(0, "", {{{"trial", 0}, {"state", "running"}}, {{"trial", 1}, {"state", "running"}}});
  EXPECT_EQ(recorder.run("tune", "", nullptr).at("result").at("trials").size(), 2U);
  EXPECT_FALSE(recorder.run("tune", "", nullptr).at("result").contains("score"));
  report(1, "auc", {{{"trial", 1}, {"state", "complete"}}});
  recorder.report({"tune", 1, 3, {}, "trial"});
  EXPECT_EQ(recorder.run("tune", "", nullptr).at("result"),
            Json({{"score", "auc"},
                  {"trials", {{{"trial", 0}, {"state", "running"}}, {{"trial", 1}, {"state", "complete"}}}}}));
  EXPECT_EQ(recorder.run("tune", "", {{"facts", {{"rows", 7}}}}).at("result"), Json({{"rows", 7}}));
}

TEST(SecondsLeft, FollowsFromTheStepsSoFar) {
  EXPECT_DOUBLE_EQ(seconds_left({"train", 11, 31, {}}, 1, 5.0), 10.0);
  EXPECT_DOUBLE_EQ(seconds_left({"train", 31, 31, {}}, 1, 5.0), 0.0);
}

TEST(SecondsLeft, AreUnknownAtTheFirstStep) { EXPECT_LT(seconds_left({"train", 1, 31, {}}, 1, 5.0), 0); }

}  // namespace
}  // namespace podere::report
