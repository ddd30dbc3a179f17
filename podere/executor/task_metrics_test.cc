#include "podere/executor/task_metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "podere/base/atomic_file.h"
#include "podere/base/temporary_folder.h"

namespace podere::executor {
namespace {

void compute_for(double seconds) {
  const Stopwatch watch;
  volatile double x = 1;
  while (watch.seconds() < seconds) x = x * 1.000001;
}

class TaskMeterTest : public testing::Test {
 protected:
  void set_energy(double joules) {
    const auto counter = folder.path() / "intel-rapl:0";
    std::filesystem::create_directories(counter);
    std::ofstream(counter / "name") << "package-0\n";
    std::ofstream(counter / "energy_uj") << static_cast<std::uint64_t>(joules * 1e6) << "\n";
    std::ofstream(counter / "max_energy_range_uj") << "100000000\n";
  }
  comm::Communicator alone = comm::Communicator::self();
  TemporaryFolder folder{testing::TempDir()};
};

TEST_F(TaskMeterTest, AChangeOfPhaseClosesATaskAndTheFirstOneBeginsWithTheMeter) {
  TaskMeter meter(alone, folder.path());
  compute_for(0.03);
  meter.enter("read");
  meter.count_rows(40, 0);
  meter.enter("read");
  meter.count_rows(2, 0);
  meter.enter("write");
  meter.count_rows(0, 7);
  AtomicFile file(folder.path() / "x");
  file.write("12345");
  file.commit();
  meter.end();
  const Json tasks = meter.gather(alone);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0]["phase"], "read");
  EXPECT_EQ(tasks[0]["executor"], 0);
  EXPECT_EQ(tasks[0]["rows_read"], 42);
  EXPECT_EQ(tasks[0]["bytes_written"], 0);
  EXPECT_GE(tasks[0]["elapsed_seconds"].get<double>(), 0.03);
  EXPECT_GT(tasks[0]["cpu_seconds"].get<double>(), 0);
  EXPECT_EQ(tasks[1]["phase"], "write");
  EXPECT_EQ(tasks[1]["rows_read"], 0);
  EXPECT_EQ(tasks[1]["rows_written"], 7);
  EXPECT_EQ(tasks[1]["bytes_written"], 5);
  EXPECT_GT(tasks[1]["peak_memory_bytes"].get<std::uint64_t>(), 0U);
}

TEST_F(TaskMeterTest, APhaseThatComesAgainContinuesItsTask) {
  set_energy(1);
  TaskMeter meter(alone, folder.path());
  meter.enter("a");
  meter.count_rows(1, 0);
  set_energy(4);
  meter.enter("b");
  set_energy(9);
  meter.enter("a");
  meter.count_rows(2, 0);
  set_energy(10);
  meter.end();
  const Json tasks = meter.gather(alone);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0]["phase"], "a");
  EXPECT_EQ(tasks[0]["rows_read"], 3);
  EXPECT_DOUBLE_EQ(tasks[0]["energy_joules"].get<double>(), 3 + 1);
  EXPECT_DOUBLE_EQ(tasks[1]["energy_joules"].get<double>(), 5);
}

TEST_F(TaskMeterTest, AJobWithoutPhasesIsOneTask) {
  TaskMeter meter(alone, folder.path());
  meter.end();
  const Json tasks = meter.gather(alone);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0]["phase"], "work");
}

TEST_F(TaskMeterTest, EnergyThatTheMachineDoesNotMeasureIsNullWithTheCause) {
  TaskMeter meter(alone, folder.path());
  meter.enter("read");
  meter.end();
  const Json metrics = job_metrics("describe", meter.gather(alone), Json::array(), 1);
  EXPECT_TRUE(metrics["job"]["energy_joules"].is_null());
  EXPECT_EQ(metrics["job"]["energy_note"], folder.path().string() + ": no energy counters (intel-rapl)");
}

TEST_F(TaskMeterTest, CostsLittle) {
  TaskMeter meter(alone, folder.path());
  const Stopwatch watch;
  constexpr int kPhases = 200;
  for (int i = 0; i < kPhases; ++i) meter.enter(i % 2 == 0 ? "even" : "odd");
  const double of_phase = watch.seconds() / kPhases;
  constexpr int kReports = 100000;
  const Stopwatch reports;
  for (int i = 0; i < kReports; ++i) meter.enter("odd");
  RecordProperty("microseconds_of_phase", std::to_string(of_phase * 1e6));
  RecordProperty("microseconds_of_report", std::to_string(reports.seconds() / kReports * 1e6));
  meter.end();
  EXPECT_EQ(meter.gather(alone).size(), 2U);
}

/// A task with `run` seconds of 10; other figures are 1, or as many as its run.
Json task(const std::string& phase, int executor, double run) {
  Json task = {{"phase", phase}, {"executor", executor}, {"host", executor < 2 ? "n1" : "n2"}};
  task["elapsed_seconds"] = 10.0;
  task["run_seconds"] = run;
  task["wait_seconds"] = 10 - run;
  for (const char* name : {"cpu_seconds", "cpu_user_seconds", "cpu_system_seconds", "decode_seconds", "read_seconds",
                           "write_seconds", "io_wait_seconds"}) {
    task[name] = 1.0;
  }
  for (const char* name : {"bytes_read", "bytes_written", "storage_bytes_read", "storage_bytes_written", "bytes_sent",
                           "rows_read", "rows_written", "peak_memory_bytes"}) {
    task[name] = static_cast<std::uint64_t>(run);
  }
  return task;
}

TEST(JobMetrics, AddsUpTasksToPhasesAndPhasesToTheJob) {
  Json tasks = {task("read", 0, 2), task("read", 1, 3), task("read", 2, 7), task("train", 0, 5), task("train", 1, 5)};
  tasks[0]["energy_joules"] = 4.0;
  tasks[2]["energy_joules"] = 5.0;
  tasks[3]["energy_joules"] = 6.0;
  const Json metrics = job_metrics("train", tasks, Json::array(), 21);
  const Json& read = metrics["phases"][0];
  EXPECT_EQ(read["phase"], "read");
  EXPECT_EQ(read["tasks"], 3);
  EXPECT_EQ(read["elapsed_seconds"], 10);
  EXPECT_EQ(read["task_seconds"], 30);
  EXPECT_EQ(read["run_seconds"], 12);
  EXPECT_EQ(read["wait_seconds"], 18);
  EXPECT_EQ(read["rows_read"], 12);
  EXPECT_EQ(read["peak_memory_bytes"], 7);
  EXPECT_EQ(read["slowest_executor"], 2);
  EXPECT_DOUBLE_EQ(read["skew"].get<double>(), 7.0 / 3);
  EXPECT_EQ(read["energy_joules"], 9);
  EXPECT_EQ(metrics["phases"][1]["skew"], 1);
  const Json& job = metrics["job"];
  EXPECT_EQ(job["kind"], "train");
  EXPECT_EQ(job["executors"], 3);
  EXPECT_EQ(job["hosts"], 2);
  EXPECT_EQ(job["elapsed_seconds"], 21);
  EXPECT_EQ(job["task_seconds"], 50);
  EXPECT_EQ(job["cpu_seconds"], 5);
  EXPECT_EQ(job["rows_read"], 22);
  EXPECT_EQ(job["peak_memory_bytes"], 7);
  EXPECT_EQ(job["energy_joules"], 15);
  EXPECT_EQ(metrics["tasks"], tasks);
}

TEST(JobMetrics, AFigureThatOneTaskDoesNotKnowIsNotKnownInAll) {
  Json tasks = {task("read", 0, 2), task("read", 1, 3), task("train", 0, 3)};
  tasks[1]["io_wait_seconds"] = nullptr;
  tasks[0]["energy_joules"] = 1.0;
  tasks[1]["energy_joules"] = nullptr;
  tasks[1]["energy_note"] = "why";
  const Json metrics = job_metrics("train", tasks, Json::array(), 1);
  EXPECT_TRUE(metrics["phases"][0]["io_wait_seconds"].is_null());
  EXPECT_EQ(metrics["phases"][1]["io_wait_seconds"], 1);
  EXPECT_TRUE(metrics["job"]["io_wait_seconds"].is_null());
  EXPECT_TRUE(metrics["job"]["energy_joules"].is_null());
  EXPECT_EQ(metrics["job"]["energy_note"], "why");
}

TEST(JobMetrics, LossesAreRetriesOfThePhaseThatTheyBrokeOff) {
  const Json losses = {{{"phase", "train"}, {"seconds_lost", 2.0}},
                       {{"phase", ""}, {"seconds_lost", 0.5}},
                       {{"phase", "train"}, {"seconds_lost", 1.0}}};
  const Json metrics = job_metrics("train", {task("read", 0, 2), task("train", 0, 2)}, losses, 1);
  EXPECT_EQ(metrics["phases"][0]["retries"], 0);
  EXPECT_EQ(metrics["phases"][1]["retries"], 2);
  EXPECT_EQ(metrics["job"]["retries"], 3);
  EXPECT_EQ(metrics["job"]["lost_seconds"], 3.5);
}

TEST(JobMetrics, OfAPhaseThatDidNothingHasNoSkew) {
  const Json metrics = job_metrics("train", Json::array({task("read", 0, 0)}), Json::array(), 1);
  EXPECT_TRUE(metrics["phases"][0]["skew"].is_null());
}

TEST(JobMetrics, OfNoTasksIsThatOfAJobThatTookTime) {
  const Json metrics = job_metrics("train", Json::array(), Json::array(), 2);
  EXPECT_EQ(metrics["job"]["elapsed_seconds"], 2);
  EXPECT_EQ(metrics["job"]["cpu_seconds"], 0);
  EXPECT_EQ(metrics["phases"], Json::array());
}

}  // namespace
}  // namespace podere::executor
