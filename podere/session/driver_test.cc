// The driver against executors that are a few lines of shell.
#include "podere/session/driver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/event_stream.h"
#include "podere/jobs/train_job.h"

namespace podere::session {
namespace {

constexpr const char* kReady = R"(echo '{"event":"ready","protocol":2,"executors":1}'; )";

class RecordedProgress : public Progress {
 public:
  void report(const ProgressStep& step) override { steps.push_back(step); }
  bool stop_requested() override { return steps.size() >= stop_after; }
  std::vector<ProgressStep> steps;
  std::size_t stop_after = SIZE_MAX;
};

CommandLine shell(const std::string& script) { return {{"sh", "-c", script}}; }

Json run_with(const std::string& script, Progress& progress) {
  Driver driver(shell(kReady + script), {}, progress);
  return driver.run(jobs::DescribeJob{{"x.csv", {}}}, progress);
}

/// The message of the failure, after its kind.
std::string failure_of(const std::string& script) {
  RecordedProgress progress;
  try {
    run_with(script, progress);
  } catch (const InputError& error) {
    return std::string("input: ") + error.what();
  } catch (const Error& error) {
    return std::string("internal: ") + error.what();
  }
  return "none";
}

TEST(Driver, SendsTheJobAndGivesItsResult) {
  RecordedProgress progress;
  const auto result = run_with(R"(read order; echo '{"event":"result","id":1,"result":'"$order"'}'; cat)", progress);
  EXPECT_EQ(result, Json::parse(R"({"id":1,"job":{"kind":"describe","table":{"location":"x.csv"}}})"));
}

TEST(Driver, PassesReportsOnInOrderAndMetricsToo) {
  RecordedProgress progress;
  run_with(R"(read order
    echo '{"event":"progress","id":1,"phase":"train","done":1,"total":3,"metrics":{"loss":0.5,"auc":null}}'
    echo '{"event":"progress","id":1,"phase":"train","done":2,"total":3,"metrics":{}}'
    echo '{"event":"result","id":1,"result":{}}'; cat)",
           progress);
  ASSERT_EQ(progress.steps.size(), 2u);
  EXPECT_EQ(progress.steps[0].phase, "train");
  EXPECT_EQ(progress.steps[0].total, 3u);
  ASSERT_EQ(progress.steps[0].metrics.size(), 2u);
  EXPECT_EQ(progress.steps[0].metrics[0], (std::pair<std::string, double>("loss", 0.5)));
  EXPECT_TRUE(std::isnan(progress.steps[0].metrics[1].second));
  EXPECT_EQ(progress.steps[1].done, 2u);
}

TEST(Driver, DoesNotMindGarbageInTheStream) {
  RecordedProgress progress;
  EXPECT_EQ(run_with(R"(read order
    echo; echo 'a library says hello'; echo '{"event":"res'; echo '[1,2]'; echo '{"no":"event"}'
    echo '{"event":"result","id":77,"result":{"answer":1}}'
    echo '{"event":"result","id":1,"result":{"answer":2}}'; cat)",
                     progress),
            Json({{"answer", 2}}));
}

TEST(Driver, CancelsOnceWhenAskedToStop) {
  RecordedProgress progress;
  progress.stop_after = 1;
  const auto result = run_with(R"(read order
    echo '{"event":"progress","id":1,"phase":"train","done":1,"total":3}'
    read cancel; echo '{"event":"result","id":1,"result":'"$cancel"'}'; cat)",
                               progress);
  EXPECT_EQ(result, Json({{"cancel", 1}}));
}

TEST(Driver, OrdersNothingAboutAJobThatHasNotBegun) {
  RecordedProgress progress;
  progress.stop_after = 0;
  const std::string receives_nothing = "read order; timeout 0.5 head -c 1 >&2 && exit 3\n";
  jobs::TrainJob job{{"x.csv", {}}};
  job.checkpoint = "c.json";
  Driver driver(shell(kReady + receives_nothing + R"(
    echo '{"event":"progress","id":1,"phase":"read","done":0,"total":1}'; read cancel; read checkpoint; read pause
    echo '{"event":"result","id":1,"result":{"received":['"$cancel,$checkpoint,$pause"']}}'; cat)"),
                {}, progress);
  int n_requests = 0;
  const auto result =
      driver.run(job, progress, {.pause = [] { return true; }, .checkpoint = [&] { return ++n_requests == 1; }});
  EXPECT_EQ(result.at("received"), Json::parse(R"([{"cancel":1},{"checkpoint":1},{"pause":1}])"));
}

TEST(Driver, GivesFailuresBackAsWhatTheyWere) {
  EXPECT_EQ(failure_of(R"(read order; echo '{"event":"failed","id":1,"kind":"input","message":"no file"}'; cat)"),
            "input: no file");
  EXPECT_EQ(failure_of(R"(read order; echo '{"event":"failed","id":1,"kind":"internal","message":"oh"}'; cat)"),
            "internal: oh");
}

TEST(Driver, FindsAFailureThatFellIntoAnotherRanksLine) {
  EXPECT_EQ(failure_of("read order; printf '{\"event\":\"result\",\"id\":1,\"resu'; "
                       "printf '\\n{\"event\":\"failed\",\"id\":1,\"kind\":\"internal\",\"message\":\"oh\"}\\n'; cat"),
            "internal: oh");
}

TEST(Driver, NamesTheExecutorThatWasKilled) {
  EXPECT_EQ(failure_of("read order; echo 'mpirun noticed that process rank 3 with PID 7 on node n exited on signal 9 "
                       "(Killed).' >&2; exit 137"),
            "internal: executor 3 lost: killed by signal 9");
  EXPECT_EQ(failure_of("read order; kill -11 $$"), "internal: executor 0 lost: killed by signal 11");
}

TEST(Driver, ReportsTheLastWordsOfExecutorsThatJustEnd) {
  EXPECT_EQ(failure_of("read order; echo 'no such device' >&2; echo '-----' >&2; exit 3"),
            "internal: the executors lost: no such device");
  EXPECT_EQ(failure_of("exit 3"), "internal: the executors lost: exit code 3");
}

TEST(Driver, ReportsTheFirstMessageOfExecutorsThatDoNotStart) {
  RecordedProgress progress;
  const auto failure = [&](const std::string& script) -> std::string {
    try {
      Driver(shell(script), {}, progress);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(failure("echo '-----' >&2; echo 'no room' >&2; echo >&2; echo 'so I give up' >&2; exit 1"),
            "the executors lost: could not be started: no room (--debug shows all output)");
  EXPECT_EQ(failure("exit 3"), "the executors lost: could not be started: exit code 3");
  // As mpirun of Open MPI 4.1 does, which then hangs.
  EXPECT_EQ(failure("echo 'no room' >&2; echo 'mpirun detected that one or more processes exited' >&2; sleep 50"),
            "the executors lost: could not be started: no room (--debug shows all output)");
}

TEST(Driver, TakesASilentEndInTheStartForALoss) {
  RecordedProgress progress;
  const std::string ends = R"(echo '-----
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
-----' >&2; exit 1)";
  const auto is_explained = [&](const std::string& script) {
    try {
      Driver(shell(script), {}, progress);
    } catch (const GroupLost& loss) {
      return loss.is_explained;
    }
    throw Error("it came up");
  };
  EXPECT_FALSE(is_explained(ends));
  EXPECT_TRUE(is_explained("echo 'no such library' >&2; " + ends));
}

class EventWithAWrongMember : public testing::TestWithParam<const char*> {};

TEST_P(EventWithAWrongMember, IsReportedInOneLine) {
  RecordedProgress progress;
  const auto message_of = [&](const std::string& script) -> std::string {
    try {
      Driver(shell(script), {}, progress).run(jobs::DescribeJob{{"x.csv", {}}}, progress);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string event = std::string("echo '") + GetParam() + "'; ";
  const std::string expected = "the executors answered something else than the protocol has: ";
  const bool is_first = std::string_view(GetParam()).find("\"id\"") == std::string_view::npos;
  const std::string message = message_of((is_first ? event : kReady + ("read order; " + event)) + "cat");
  EXPECT_TRUE(message.starts_with(expected)) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    , EventWithAWrongMember,
    testing::Values(R"({"event":5})", R"({"event":null})", R"({"event":["ready"]})",
                    R"({"event":"ready","protocol":"2","executors":1})", R"({"event":"ready","protocol":2.5})",
                    R"({"event":"ready","protocol":2,"executors":-1})", R"({"event":"ready","executors":99999999999})",
                    R"({"event":"ready","protocol":2,"executors":null})", R"({"event":"failed","message":5})",
                    R"({"event":"failed","message":"x","kind":true})", R"({"event":7,"id":1})",
                    R"({"event":"progress","id":1,"phase":3})", R"({"event":"progress","id":1,"done":-1})",
                    R"({"event":"progress","id":1,"done":"2"})", R"({"event":"progress","id":1,"total":0.5})",
                    R"({"event":"progress","id":1,"metrics":[1]})", R"({"event":"result","id":1,"result":"done"})",
                    R"({"event":"result","id":1,"result":null})", R"({"event":"failed","id":1,"kind":{}})",
                    R"({"event":"failed","id":1,"message":[]})"));

TEST(Driver, RefusesAGroupOfAnotherSizeOrProtocol) {
  RecordedProgress progress;
  EXPECT_THROW(Driver(shell(std::string(kReady) + "cat"), {.n_executors = 4}, progress), Error);
  EXPECT_THROW(Driver(shell(R"(echo '{"event":"ready","protocol":99,"executors":1}'; cat)"), {}, progress), Error);
}

/// Whether a group that says `words` once, and no more, is lost while the driver listens for `n` tenths of a second,
/// twice as long as its patience where that is 1.
bool is_lost_in(int n, const std::string& words, double load) {
  RecordedProgress progress;
  Driver::Options options{.silence_seconds = 0.5};
  options.load = [&] { return load; };
  Driver driver(shell(std::string(kReady) + words + "cat; kill -KILL $!"), options, progress);
  try {
    for (int i = 0; i < 2 * n; ++i) driver.idle(50);
  } catch (const GroupLost& loss) {
    EXPECT_EQ(loss.how, "silent for 0.5 s");
    return true;
  }
  return false;
}

TEST(Driver, HasPatienceWithTheSilenceOfALoadedMachine) {
  EXPECT_FALSE(is_lost_in(10, "sleep 100 & ", 1000));
  EXPECT_TRUE(is_lost_in(600, "sleep 100 & ", 0));
}

TEST(Driver, LooksAtASilentProcessBeforeItIsCalledLost) {
  const std::string heartbeat = "sleep 100 & echo podere-alive 0 $! " + jobs::host_name() + " >&2; ";
  EXPECT_FALSE(is_lost_in(10, heartbeat, 0));
  EXPECT_TRUE(is_lost_in(600, heartbeat, 0)) << "in the end";
  EXPECT_TRUE(is_lost_in(30, heartbeat + "kill -STOP $!; ", 0));
  EXPECT_TRUE(is_lost_in(30, "echo podere-alive 0 $$ elsewhere >&2; sleep 100 & ", 0));
}

TEST(Driver, DoesNotTakeItsOwnAbsenceForSilenceOfExecutors) {
  RecordedProgress progress;
  const std::string two_alive = R"(echo '{"event":"ready","protocol":2,"executors":2}'
    (while sleep 0.1; do echo podere-alive 0; echo podere-alive 1; done) >&2 & cat; kill $!)";
  Driver driver(shell(two_alive), {.n_executors = 2, .silence_seconds = 2}, progress);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  driver.idle(200);
  driver.end();
}

TEST(Driver, ReceivesOfALossBehindManyHeartbeatsAtOnce) {
  RecordedProgress progress;
  const std::string dies = "for i in $(seq 1000); do echo podere-alive 0; done >&2; kill -9 $$";
  Driver driver(shell(kReady + dies), {}, progress);
  const auto receives_soon = [&] {
    for (int i = 0; i < 50; ++i) {
      driver.idle(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  };
  EXPECT_THROW(receives_soon(), GroupLost);
}

TEST(Driver, EndsExecutorsInOrderWhenTheyListen) {
  RecordedProgress progress;
  std::string received;
  Driver driver(shell(std::string(kReady) + "read order; echo $order >&2"),
                {.on_error_line = [&](const std::string& line) { received = line; }}, progress);
  driver.end();
  EXPECT_EQ(received, R"({"end":true})");
}

TEST(Driver, TakesExecutorsThatDoNotComeUpForLost) {
  RecordedProgress progress;
  try {
    Driver(shell("echo 'no network' >&2; sleep 100"),
           {.start_seconds = 0.5, .load = [] { return 0.0; }, .on_error_line = [](const auto&) {}}, progress);
    FAIL() << "it came up";
  } catch (const GroupLost& loss) {
    EXPECT_EQ(loss.how, "not up within 0.5 s: no network");
    EXPECT_FALSE(loss.is_explained);
  }
}

TEST(Driver, IsGoneAfterItsExecutorsWhateverKilledTheirLauncher) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string here = folder.path() / "executor";
  const std::string dies = "touch " + here + "; setsid sh -c 'sleep 0.5; rm " + here +
                           "' >/dev/null 2>&1 & echo podere-alive 0 $! " + jobs::host_name() + " >&2; kill -9 $$";
  RecordedProgress progress;
  {
    Driver driver(shell(kReady + dies), {}, progress);
    EXPECT_THROW(driver.idle(5000), GroupLost);
  }
  EXPECT_FALSE(std::filesystem::exists(here)) << "once it was up";
  EXPECT_THROW(Driver(shell(dies), {}, progress), GroupLost);
  EXPECT_FALSE(std::filesystem::exists(here)) << "while it started";
}

TEST(Driver, LetsTheUserOutWhileExecutorsStart) {
  class Impatient : public Progress {
    bool stop_requested() override { throw std::runtime_error("out"); }
  } impatient;
  EXPECT_THROW(Driver(shell("sleep 100"), {}, impatient), std::runtime_error);
}

}  // namespace
}  // namespace podere::session
