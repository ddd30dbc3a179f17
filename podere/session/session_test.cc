// The session against executors that are a few lines of shell. A file counts how often they were started.
#include "podere/session/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/temporary_folder.h"
#include "podere/executor/executor.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/evaluate_job.h"
#include "podere/jobs/predict_job.h"
#include "podere/jobs/table_jobs.h"
#include "podere/jobs/train_job.h"
#include "podere/session/scripted_launcher.h"

namespace podere::session {
namespace {

class RecordedWarnings : public Progress {
 public:
  void report(const ProgressStep& step) override { steps.push_back(step); }
  void warn(const std::string& message) override { warnings.push_back(message); }
  bool stop_requested() override { return stops; }
  std::vector<ProgressStep> steps;
  bool stops = false;
  std::vector<std::string> warnings;
};

std::string train_event(int done) {
  return fmt::format(R"(echo '{{"event":"progress","id":1,"phase":"train","done":{},"total":9}}'; )", done);
}
const std::string kRankTwoKilled =
    "echo 'mpirun noticed that process rank 2 with PID 7 on node n exited on signal 9 (Killed).' >&2; exit 137";
const std::string kResult = R"(echo '{"event":"result","id":1,"result":{}}'; cat)";

class SessionTest : public testing::Test {
 protected:
  /// Group number k does scripts[k] once it has its order; the last one's is done by those beyond too.
  Session session_of(std::vector<std::string> scripts, int n_executors, int least) {
    Session::Options options{.n_executors = n_executors, .least = least};
    scripted(options).there = room;
    scripted(options).launch = [this, scripts](int n) {
      launched.push_back(n);
      const std::string ready =
          fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; read order; )", n);
      return CommandLine{{"sh", "-c", ready + scripts[std::min(launched.size(), scripts.size()) - 1]}};
    };
    return {std::move(options), progress};
  }

  std::string failure_of(std::vector<std::string> scripts) {
    try {
      session_of(std::move(scripts), 2, 1).run(jobs::DescribeJob{{"x.csv", {}}}, progress);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  RecordedWarnings progress;
  std::vector<int> launched;
  std::function<int()> room;
};

TEST_F(SessionTest, ContinuesWithOneExecutorLessAndSaysWhatWasLost) {
  const std::string dies = train_event(0) + train_event(4) + train_event(6) + "sleep 0.2; " + kRankTwoKilled;
  const Json result = session_of({dies, train_event(4) + kResult}, 3, 1).run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{3, 2}));
  ASSERT_EQ(progress.warnings.size(), 1U);
  EXPECT_TRUE(progress.warnings[0].starts_with(
      "lost executor 2 (killed by signal 9) at tree 6; continuing with 2 executors from tree 4; "))
      << progress.warnings[0];
  ASSERT_EQ(result.at("losses").size(), 1U);
  EXPECT_EQ(result["losses"][0]["executors_left"], 2);
  EXPECT_GT(result["losses"][0]["seconds_lost"].get<double>(), 0.2);
}

TEST_F(SessionTest, ContinuesWithWhatThereIsRoomFor) {
  room = [] { return 2; };
  session_of({train_event(4) + kRankTwoKilled, train_event(4) + kResult}, 6, 1)
      .run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{6, 2}));
  EXPECT_NE(progress.warnings.at(0).find("continuing with 2 executors"), std::string::npos) << progress.warnings[0];
  launched.clear();
  room = [] { return 1; };
  EXPECT_THROW(session_of({kRankTwoKilled}, 3, 2).run(jobs::DescribeJob{{"x.csv", {}}}, progress), Error);
  EXPECT_EQ(launched, (std::vector<int>{3, 2, 2}));  // never fewer than asked for: it is the launch that throws
}

TEST_F(SessionTest, ASecondLossBeforeTheFirstIsMadeUpForIsReportedToo) {
  const std::string read = R"(echo '{"event":"progress","id":1,"phase":"read","done":0,"total":1}'; )";
  Session session = session_of(
      {read + train_event(0) + train_event(4) + kRankTwoKilled, read + kRankTwoKilled, read + train_event(4) + kResult},
      4, 1);
  const Json result = session.run(jobs::TrainJob{{"x.csv", {}}}, progress);
  ASSERT_EQ(result.at("losses").size(), 2U);
  ASSERT_EQ(progress.warnings.size(), 2U);
  EXPECT_EQ(progress.warnings[0],
            "lost executor 2 (killed by signal 9) at tree 4; others were lost before it was made up for");
  EXPECT_TRUE(
      progress.warnings[1].starts_with("lost executor 2 (killed by signal 9) at the phase 'read'; continuing with 2 "
                                       "executors from tree 4; "))
      << progress.warnings[1];
}

TEST_F(SessionTest, NeverGoesBelowWhatIsEnough) {
  const auto dies_at = [](int tree) { return train_event(0) + train_event(tree) + "kill -9 $$"; };
  session_of({dies_at(1), dies_at(2), dies_at(3), train_event(0) + kResult}, 4, 3)
      .run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{4, 3, 3, 3}));
  ASSERT_EQ(progress.warnings.size(), 3U);
  EXPECT_NE(progress.warnings[2].find("from the beginning"), std::string::npos) << progress.warnings[2];
}

TEST_F(SessionTest, ContinuesWithEverFewerUntilTheyFit) {
  const std::string reads = R"(echo '{"event":"progress","id":1,"phase":"read","done":0,"total":1}'; )";
  Session session = session_of({reads + "kill -9 $$", reads + "kill -9 $$", reads + train_event(0) + kResult}, 4, 1);
  const Json result = session.run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{4, 3, 2}));
  EXPECT_EQ(result.at("losses").size(), 2U);
}

TEST_F(SessionTest, TheNextJobBeginsWithAllAgainAfterOneThatWasGivenUp) {
  Session session = session_of({"kill -9 $$", "kill -9 $$", "kill -9 $$", kResult}, 2, 1);
  EXPECT_THROW(session.run(jobs::DescribeJob{{"x.csv", {}}}, progress), Error);
  session.run(jobs::DescribeJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{2, 1, 1, 2}));
}

TEST_F(SessionTest, GivesUpWhereTheSameIsLostTwiceWithNothingGained) {
  EXPECT_EQ(
      failure_of({train_event(3) + "kill -9 $$"}),
      "given up at tree 3: groups of 2, 1 and 1 executors were lost the same way: killed by signal 9 (perhaps there is "
      "not enough memory)");
  EXPECT_EQ(launched, (std::vector<int>{2, 1, 1}));
}

TEST_F(SessionTest, ContinuesWhileItBeginsWithMoreEachTime) {
  const auto runs = [](int from, int to) { return train_event(from) + train_event(to) + "kill -9 $$"; };
  session_of({runs(0, 10), runs(4, 8), runs(6, 8), train_event(7) + kResult}, 4, 1)
      .run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched.size(), 4U);
  EXPECT_TRUE(failure_of({runs(0, 10), runs(4, 8), runs(4, 8)}).starts_with("given up at tree 8: "))
      << "nothing gained";
}

TEST_F(SessionTest, TablesAreMadeAgainByTheGroupThatTakesOver) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string received = folder.path() / "orders";
  // Answers one order with its id; what it received is in a file.
  const std::string done =
      "echo \"$order\" >> " + received +
      R"(; id=${order#*:}; id=${id%%,*}; echo '{"event":"result","id":'$id',"result":'$result'}'; )";
  const std::string load = R"(result='{"tables":[{"name":"a"}]}'; )" + done;
  Session session =
      session_of({load + "read order; " + kRankTwoKilled, load + "read order; result='{}'; " + done + "cat"}, 3, 1);
  session.run(jobs::LoadJob{{"x.csv", {}}, "a"}, progress);
  EXPECT_TRUE(session.tables().contains("a"));
  session.run(jobs::DescribeJob{{"table:a", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{3, 2}));
  std::ifstream file(received);
  const std::string orders((std::istreambuf_iterator<char>(file)), {});
  const std::string first = R"({"id":1,"job":{"kind":"load","table":{"location":"x.csv"},"name":"a"}})"
                            "\n";
  EXPECT_EQ(orders, first + first +
                        R"({"id":2,"job":{"kind":"describe","table":{"location":"table:a"}}})"
                        "\n");
}

TEST_F(SessionTest, AGroupThatCannotMakeTheTablesAgainIsReplacedByTheNextJob) {
  const auto answer = [](int id, const char* result) {
    return fmt::format(R"(echo '{{"event":"result","id":{},"result":{}}}'; )", id, result);
  };
  const auto fail = [](int id, const char* words) {
    return fmt::format(R"(echo '{{"event":"failed","id":{},"kind":"internal","message":"{}"}}'; )", id, words);
  };
  const std::string load = answer(1, R"({"tables":[{"name":"a"}]})");
  Session session = session_of({load + "read order; kill -9 $$",
                                fail(1, "the disk is slow") + "read order; " + fail(2, "there is no table a") + "cat",
                                load + "read order; " + answer(2, "{}") + "cat"},
                               2, 2);
  session.run(jobs::LoadJob{{"x.csv", {}}, "a"}, progress);
  EXPECT_THROW(session.run(jobs::DescribeJob{{"table:a", {}}}, progress), Error);
  session.run(jobs::DescribeJob{{"table:a", {}}}, progress);
  EXPECT_EQ(launched.size(), 3U);
}

TEST_F(SessionTest, TrainingPausesToContinueWithMore) {
  const std::string paused = R"(read order; echo '{"event":"result","id":1,"result":{"paused":true}}'; cat)";
  Session::Options options{.n_executors = 1, .least = 1};
  options.wanted = [&] { return launched.empty() ? Wanted{1, 1} : Wanted{3, 2}; };
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; read order; )", n);
    return CommandLine{{"sh", "-c", ready + (n == 1 ? train_event(2) + paused : train_event(3) + kResult)}};
  };
  Session session(std::move(options), progress);
  jobs::TrainJob job{{"x.csv", {}}};
  job.checkpoint = "c.json";
  const Json result = session.run(job, progress);
  EXPECT_EQ(launched, (std::vector<int>{1, 3}));
  EXPECT_FALSE(result.contains("paused"));
  EXPECT_EQ(session.n_executors(), 3);
  EXPECT_EQ(progress.warnings, (std::vector<std::string>{"continuing with 3 executors instead of 1"}));
}

TEST_F(SessionTest, AGroupThatFollowsAnotherAndDoesNotComeUpIsALossAsOthersAre) {
  int n_failing = 1;
  Session::Options options{.n_executors = 4, .least = 1};
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    const bool comes_up = launched.size() == 1 || static_cast<int>(launched.size()) > 1 + n_failing;
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; read order; )", n);
    const std::string does =
        launched.size() == 1 ? train_event(0) + train_event(4) + kRankTwoKilled : train_event(4) + kResult;
    return CommandLine{{"sh", "-c", comes_up ? ready + does : "echo 'no room for a while' >&2; exit 1"}};
  };
  const Json result = Session(options, progress).run(jobs::TrainJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{4, 3, 2}));
  ASSERT_EQ(result.at("losses").size(), 2U);
  EXPECT_NE(progress.warnings.at(1).find("could not be started: no room for a while"), std::string::npos)
      << progress.warnings[1];

  launched.clear();
  n_failing = 1000;
  try {
    Session(options, progress).run(jobs::TrainJob{{"x.csv", {}}}, progress);
    FAIL() << "it continued";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("given up at the start: groups of 3, 2, 1 and 1 executors were lost the same way: "
                                 "could not be started: no room for a while"))
        << error.what();
  }
  EXPECT_EQ(launched, (std::vector<int>{4, 3, 2, 1, 1}));
}

TEST_F(SessionTest, AFirstGroupThatCannotBeStartedEndsWithWhatTheLauncherSays) {
  Session::Options options{.n_executors = 3, .least = 1};
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    return CommandLine{{"sh", "-c", "echo 'no such library' >&2; exit 1"}};
  };
  try {
    Session(options, progress);
    FAIL() << "it came up";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("the executors could not be started: no such library"))
        << error.what();
  }
  EXPECT_EQ(launched, std::vector<int>{3});
}

TEST_F(SessionTest, AFirstGroupThatEndsWithoutAWordIsALossAsOthersAre) {
  Session::Options options{.n_executors = 3, .least = 1};
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    return CommandLine{{"sh", "-c", n > 1 ? "exit 1" : R"(echo '{"event":"ready","protocol":2,"executors":1}'; cat)"}};
  };
  EXPECT_EQ(Session(options, progress).n_executors(), 1);
  EXPECT_EQ(launched, (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(progress.warnings.at(0),
            "lost the executors (could not be started: exit code 1) at the start; starting 2 executors");
}

TEST_F(SessionTest, NothingIsLeftInSharedMemoryWhereNoGroupStood) {
  std::string left;
  Session::Options options{.n_executors = 1, .least = 1};
  scripted(options).launch = [&](int) {
    const TemporaryFolder folder(executor::kSharedMemory);
    left = folder.path().string() + "x";  // as that of an executor that was killed: no process owns it
    left.erase(left.size() - 2, 1);
    std::filesystem::create_directory(left);
    return CommandLine{{"sh", "-c", "echo 'no such library' >&2; exit 1"}};
  };
  EXPECT_THROW(Session(options, progress), Error);
  EXPECT_FALSE(std::filesystem::exists(left)) << left;
}

TEST_F(SessionTest, ReportsOnceThatItResumesFromACheckpointThatIsThere) {
  const TemporaryFolder folder(testing::TempDir());
  jobs::TrainJob job{{"x.csv", {}}};
  job.checkpoint = folder.path() / "ck";
  std::ofstream(job.checkpoint) << "{}";
  const std::vector<std::string> scripts = {train_event(4) + train_event(5) + kRankTwoKilled, train_event(5) + kResult};
  session_of(scripts, 2, 1).run(job, progress);
  ASSERT_EQ(progress.warnings.size(), 2U);
  EXPECT_EQ(progress.warnings[0], "resuming at tree 4 from checkpoint " + job.checkpoint);
  EXPECT_TRUE(progress.warnings[1].starts_with("lost executor 2")) << progress.warnings[1];

  progress.warnings.clear();
  launched.clear();
  std::filesystem::remove(job.checkpoint);
  session_of({train_event(0) + train_event(5) + kResult}, 2, 1).run(job, progress);
  EXPECT_EQ(progress.warnings, std::vector<std::string>());
}

TEST_F(SessionTest, AFirstGroupThatHangsIsALossAsOthersAre) {
  Session::Options options{.n_executors = 3, .least = 1, .driver = {.start_seconds = 0.3, .load = [] { return 0.0; }}};
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; cat)", n);
    return CommandLine{{"sh", "-c", n > 1 ? "sleep 100" : ready}};
  };
  EXPECT_EQ(Session(options, progress).n_executors(), 1);
  EXPECT_EQ(launched, (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(progress.warnings.at(0), "lost the executors (not up within 0.3 s) at the start; starting 2 executors");
  launched.clear();
  options.least = 3;
  EXPECT_THROW(Session(options, progress), Error);
  EXPECT_EQ(launched, (std::vector<int>{3, 3}));
}

TEST_F(SessionTest, TrainingPausesToContinueElsewhereWithAsMany) {
  const std::string paused = R"(read order; echo '{"event":"result","id":1,"result":{"paused":true}}'; cat)";
  Session::Options options{.n_executors = 4, .least = 1};
  scripted(options).await = [](Progress&) {};
  scripted(options).there = [] { return 2; };
  options.wanted = [&] { return Wanted{.n_executors = 4, .least = 1, .moves = progress.steps.empty() ? 0 : 1}; };
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; read order; )", n);
    return CommandLine{
        {"sh", "-c", ready + (launched.size() == 1 ? train_event(2) + paused : train_event(3) + kResult)}};
  };
  Session session(std::move(options), progress);
  jobs::TrainJob job{{"x.csv", {}}};
  job.checkpoint = "c.json";
  session.run(job, progress);
  EXPECT_EQ(launched, (std::vector<int>{2, 2}));
  EXPECT_EQ(progress.warnings, (std::vector<std::string>{"continuing with 2 executors elsewhere"}));
}

/// A farm with `n_there` executors. The first group, and every second one that follows, hangs at its start until one of
/// them is asked to go.
class FarmThatShrinks {
 public:
  explicit FarmThatShrinks(int n_there) : n_there_(n_there) {}

  Session::Options options(int n_executors) {
    Session::Options options{.n_executors = n_executors, .least = 1};
    scripted(options).there = [this] { return n_there_; };
    scripted(options).await = [](Progress&) {};
    options.wanted = [this, n_executors] {
      if (std::exchange(hangs_, false)) {
        --n_there_;
        ++n_moves_;
      }
      return Wanted{.n_executors = n_executors, .least = 1, .moves = n_moves_};
    };
    scripted(options).launch = [this](int n) {
      launched.push_back(n);
      hangs_ = launched.size() % 2 == 1;
      const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; )", n);
      const std::string dies = "kill -9 $$";
      const std::string works = "read order; " + kResult;
      return CommandLine{{"sh", "-c", hangs_ ? "sleep 1000" : ready + (launched.size() == 2 ? dies : works)}};
    };
    return options;
  }

  std::vector<int> launched;

 private:
  int n_there_;
  int n_moves_ = 0;
  bool hangs_ = false;
};

TEST_F(SessionTest, AGroupOfWhichOneIsToGoIsNotWaitedFor) {
  FarmThatShrinks farm(6);
  Session session(farm.options(6), progress);
  EXPECT_EQ(farm.launched, (std::vector<int>{6, 5}));
  session.run(jobs::DescribeJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(farm.launched, (std::vector<int>{6, 5, 4, 4})) << "one died, another was asked to go";
  EXPECT_EQ(progress.warnings, (std::vector<std::string>{"continuing with 5 executors instead of 6",
                                                         "continuing with 4 executors elsewhere"}));
}

TEST_F(SessionTest, AGroupOfWhichOneIsToGoIsNotWaitedForBetweenJobs) {
  FarmThatShrinks farm(6);
  Session session(farm.options(6), progress);
  for (const Stopwatch watch; farm.launched.size() < 4 && watch.seconds() < 50;) session.idle(progress);
  EXPECT_EQ(farm.launched, (std::vector<int>{6, 5, 4, 4}));
  session.run(jobs::DescribeJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(farm.launched.size(), 4U);
}

TEST_F(SessionTest, RoomIsWaitedForByJobsButNotBetweenThem) {
  Session::Options options{.n_executors = 2, .least = 1};
  int n_free = 0;
  int n_waits = 0;
  scripted(options).there = [&] { return n_free; };
  scripted(options).await = [&](Progress& waiting) {
    ++n_waits;
    if (n_free > 0) return;
    waiting.warn("the farm has none");
    if (waiting.stop_requested()) throw Interrupted();
    n_free = 1;
  };
  scripted(options).launch = [&](int n) {
    launched.push_back(n);
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; )", n);
    return CommandLine{{"sh", "-c", ready + (launched.size() == 1 ? "kill -9 $$" : "read order; " + kResult)}};
  };
  Session session(std::move(options), progress);
  EXPECT_EQ(launched, (std::vector<int>{1}));
  n_free = 0;
  const int n_waits_before = n_waits;
  const Stopwatch watch;
  while (progress.warnings.size() < 2 && watch.seconds() < 10) session.idle(progress);
  session.idle(progress);
  ASSERT_EQ(progress.warnings.size(), 2U) << "that it was lost";
  EXPECT_EQ(n_waits, n_waits_before);

  progress.stops = true;
  EXPECT_THROW(session.run(jobs::DescribeJob{{"x.csv", {}}}, progress), Interrupted);
  EXPECT_EQ(launched.size(), 1U);
  progress.stops = false;
  session.run(jobs::DescribeJob{{"x.csv", {}}}, progress);
  EXPECT_EQ(launched, (std::vector<int>{1, 1}));
  EXPECT_EQ(progress.warnings.back(), "the farm has none");
}

TEST_F(SessionTest, GivesUpAfterManyLosses) {
  std::vector<std::string> scripts;
  for (int tree = 1; tree < 40; ++tree) scripts.push_back(train_event(0) + train_event(tree) + "kill -9 $$");
  EXPECT_TRUE(failure_of(scripts).starts_with("given up after 21 losses")) << failure_of(scripts);
}

TEST_F(SessionTest, ContinuesAfterManyLossesIfEachGroupBeganWithMore) {
  std::vector<std::string> scripts;
  for (int tree = 1; tree < 40; ++tree) scripts.push_back(train_event(tree) + "kill -9 $$");
  scripts.push_back(train_event(40) + kResult);
  EXPECT_NO_THROW(session_of(scripts, 2, 1).run(jobs::TrainJob{{"x.csv", {}}}, progress));
  EXPECT_EQ(launched.size(), 40U);
}

TEST_F(SessionTest, FailuresThatExecutorsReportAreNotTriedAgain) {
  EXPECT_EQ(failure_of({R"(echo '{"event":"failed","id":1,"kind":"input","message":"no file"}'; cat)"}), "no file");
  EXPECT_EQ(launched.size(), 1U);
}

TEST_F(SessionTest, AFileThatChangedIsNotReadAgain) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = folder.path() / "x.csv";
  std::ofstream(path) << "1,2\n";
  const std::vector<std::string> change = {"echo more >> " + path + "; kill -9 $$", kResult};
  EXPECT_THROW(session_of(change, 2, 1).run(jobs::DescribeJob{{path, {}}}, progress), InputError);
  launched.clear();
  EXPECT_THROW(session_of(change, 2, 1).run(jobs::EvaluateJob{{"x.csv", {}}, path}, progress), InputError)
      << "the model";
}

TEST_F(SessionTest, WhatAJobWroteBeforeItsLossIsGone) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = folder.path() / "out.csv";
  std::ofstream(path).close();
  Session session = session_of({"echo half >> " + path + "; kill -9 $$", "wc -c < " + path + " >&2; " + kResult}, 2, 1);
  session.run(jobs::PredictJob{{"x.csv", {}}, "model.json", path}, progress);
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
}

TEST_F(SessionTest, AGroupOfWhichOneIsSilentIsLost) {
  Session::Options options{.n_executors = 2, .driver = {.silence_seconds = 0.6, .load = [] { return 0.0; }}};
  scripted(options).launch = [this](int n) {
    launched.push_back(n);
    const std::string ready = fmt::format(R"(echo '{{"event":"ready","protocol":2,"executors":{}}}'; read order; )", n);
    const std::string speaks_for_rank_0 = "while :; do echo podere-alive 0 >&2; sleep 0.1; done";
    return CommandLine{{"sh", "-c", ready + (launched.size() == 1 ? speaks_for_rank_0 : train_event(0) + kResult)}};
  };
  Session session(std::move(options), progress);
  session.run(jobs::TrainJob{{"x.csv", {}}}, progress);
  ASSERT_EQ(progress.warnings.size(), 1U);
  EXPECT_TRUE(
      progress.warnings[0].starts_with("lost executor 1 (silent for 0.6 s) at the start; continuing with 1 executor "))
      << progress.warnings[0];
}

}  // namespace
}  // namespace podere::session
