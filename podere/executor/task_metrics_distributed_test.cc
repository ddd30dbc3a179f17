#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "podere/base/temporary_folder.h"
#include "podere/executor/task_metrics.h"

namespace podere::executor {
namespace {

using comm::Communicator;

TEST(TaskMeterDistributed, TheTasksOfAllRanksComeTogetherByPhase) {
  const Communicator all = Communicator::world().split(0, Communicator::world().rank());
  const TemporaryFolder folder(testing::TempDir());
  TaskMeter meter(all, folder.path());
  meter.enter("read");
  meter.count_rows(static_cast<std::uint64_t>(all.rank()) + 1, 0);
  meter.enter("train");
  meter.end();
  const Json tasks = meter.gather(all);
  if (!all.is_root()) {
    EXPECT_TRUE(tasks.is_null());
    return;
  }
  const auto p = static_cast<std::size_t>(all.size());
  ASSERT_EQ(tasks.size(), 2 * p);
  for (std::size_t i = 0; i < 2 * p; ++i) {
    EXPECT_EQ(tasks[i]["phase"], i < p ? "read" : "train");
    EXPECT_EQ(tasks[i]["executor"], i % p);
    EXPECT_EQ(tasks[i]["rows_read"], i < p ? i + 1 : 0);
  }
}

TEST(TaskMeterDistributed, OneRankOfAMachineReadsItsEnergy) {
  const Communicator all = Communicator::world().split(0, Communicator::world().rank());
  const TemporaryFolder folder(testing::TempDir());
  const auto counter = folder.path() / "intel-rapl:0";
  std::filesystem::create_directories(counter);
  const auto set = [&](const char* name, const char* value) { std::ofstream(counter / name) << value; };
  set("name", "package-0");
  set("max_energy_range_uj", "1000000000");
  set("energy_uj", "1000000");
  TaskMeter meter(all, folder.path());
  meter.enter("read");
  set("energy_uj", "3500000");
  meter.end();
  const Json tasks = meter.gather(all);
  if (!all.is_root()) return;
  for (const Json& task : tasks) EXPECT_EQ(task.contains("energy_joules"), task["executor"] == 0);
  EXPECT_EQ(job_metrics("train", tasks, Json::array(), 1)["job"]["energy_joules"], 2.5);
}

TEST(TaskMeterDistributed, WaitingForARankThatComesLateIsWait) {
  const Communicator all = Communicator::world().split(0, Communicator::world().rank());
  if (all.size() == 1) GTEST_SKIP() << "no other rank to wait for";
  const TemporaryFolder folder(testing::TempDir());
  TaskMeter meter(all, folder.path());
  meter.enter("train");
  all.barrier();
  if (all.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  all.barrier();
  meter.end();
  const Json tasks = meter.gather(all);
  if (!all.is_root()) return;
  for (const Json& task : tasks) {
    const auto wait = task["wait_seconds"].get<double>();
    const auto run = task["run_seconds"].get<double>();
    EXPECT_DOUBLE_EQ(wait + run, task["elapsed_seconds"].get<double>());
    if (task["executor"] == 1) {
      EXPECT_GE(run, 0.3);
    } else {
      EXPECT_GT(wait, 0.1);
    }
  }
  const Json phase = job_metrics("train", tasks, Json::array(), 1)["phases"][0];
  EXPECT_EQ(phase["slowest_executor"], 1);
}

}  // namespace
}  // namespace podere::executor
