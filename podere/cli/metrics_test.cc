#include "podere/cli/metrics.h"

#include <gtest/gtest.h>

#include "podere/executor/task_metrics.h"

namespace podere::cli {
namespace {

Json task(const std::string& phase, int executor, double elapsed, double wait) {
  Json task = {{"phase", phase}, {"executor", executor}, {"host", "n1"}, {"elapsed_seconds", elapsed}};
  task["run_seconds"] = elapsed - wait;
  task["wait_seconds"] = wait;
  for (const char* name :
       {"cpu_seconds", "cpu_user_seconds", "cpu_system_seconds", "decode_seconds", "read_seconds", "write_seconds"}) {
    task[name] = 0.5;
  }
  for (const char* name : {"bytes_read", "bytes_written", "storage_bytes_read", "storage_bytes_written", "bytes_sent",
                           "rows_read", "rows_written", "peak_memory_bytes"}) {
    task[name] = 1500U;
  }
  task["io_wait_seconds"] = nullptr;
  return task;
}

Json metrics() {
  const Json tasks = {task("read", 0, 1, 0), task("read", 1, 1, 0.75), task("train", 0, 4, 0), task("train", 1, 4, 0)};
  return executor::job_metrics("train", tasks, Json::array(), 5.5);
}

TEST(ByteCount, HasFourFiguresAndAUnit) {
  EXPECT_EQ(byte_count(0), "0 B");
  EXPECT_EQ(byte_count(999), "999 B");
  EXPECT_EQ(byte_count(12345), "12.3 kB");
  EXPECT_EQ(byte_count(999'960), "1.0 MB");
  EXPECT_EQ(byte_count(4.54e9), "4.5 GB");
  EXPECT_EQ(byte_count(4.54e16), "45400.0 TB");
}

TEST(WaitingText, NamesWhatWouldBeFasterWhereExecutorsMostlyWaited) {
  const auto facts = [](double elapsed, double wait) {
    const Json tasks = {task("train", 0, elapsed, wait), task("train", 1, elapsed, wait)};
    return Json{
        {"executors", 2}, {"cores", 3}, {"metrics", executor::job_metrics("train", tasks, Json::array(), elapsed)}};
  };
  EXPECT_EQ(waiting_text(facts(4, 3)),
            "executors waited for each other 75 % of the time; fewer with more cores each may be faster, such as "
            "--executors 1 --cores 6");
  Json on_two_cores = facts(4, 3);
  on_two_cores["usable_cores"] = 2;
  EXPECT_TRUE(waiting_text(on_two_cores).ends_with("--executors 1 --cores 2")) << "no more than there are";
  EXPECT_EQ(waiting_text(facts(4, 1)), "");
  EXPECT_EQ(waiting_text(facts(0.4, 0.3)), "") << "too short to matter";
  EXPECT_EQ(waiting_text({{"stopped", "mine"}}), "");
  Json alone = facts(4, 3);
  alone["executors"] = 1;
  EXPECT_EQ(waiting_text(alone), "");
  Json with_losses = facts(4, 3);
  with_losses["losses"] = {1};
  EXPECT_EQ(waiting_text(with_losses), "") << "that is what was waited for";
}

TEST(MetricsText, HasALinePerPhaseAndOneOfTheJob) {
  const std::string text = metrics_text(metrics(), false);
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "phase  executor  elapsed     run    wait     CPU  skew    read  written  rows in  rows out  peak memory\n"
            "read        all   1.00 s  1.25 s  0.75 s  1.00 s  1.60  3.0 kB   3.0 kB    3,000     3,000       1.5 kB\n"
            "train       all   4.00 s  8.00 s  0.00 s  1.00 s  1.00  3.0 kB   3.0 kB    3,000     3,000       1.5 kB\n"
            "job         all   5.50 s  9.25 s  0.75 s  2.00 s        6.0 kB   6.0 kB    6,000     6,000       1.5 kB");
  EXPECT_NE(text.find("energy            not measured on this machine (no energy counters)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("wait for storage  not kept by this machine\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("retries"), std::string::npos);
}

TEST(MetricsText, HasALinePerTaskWhereWanted) {
  const std::string text = metrics_text(metrics(), true);
  EXPECT_NE(text.find("\nread          1  "), std::string::npos) << text;
  EXPECT_NE(text.find("\ntrain       all  "), std::string::npos) << text;
}

}  // namespace
}  // namespace podere::cli
