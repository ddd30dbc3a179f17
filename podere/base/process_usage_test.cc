#include "podere/base/process_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "podere/base/clock.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// The line of a thread that has waited `ticks` for block devices.
std::string stat_line(int ticks) {
  std::string line = "7 (a (b) c) S";
  for (int field = 4; field < 42; ++field) line += " 1";
  return line + " " + std::to_string(ticks) + " 0 0\n";
}

TEST(ProcessUsage, OfThisProcessGrowsWithWhatItComputes) {
  const ProcessUsage before = process_usage();
  const Stopwatch watch;
  volatile double x = 1;
  while (watch.seconds() < 0.1) x = x * 1.000001;
  const ProcessUsage after = process_usage();
  const double cpu = after.user_seconds + after.system_seconds - before.user_seconds - before.system_seconds;
  EXPECT_GT(cpu, 0);
  EXPECT_LE(cpu, watch.seconds() + 0.05);
}

TEST(ProcessUsage, StorageBytesAreThoseOfTheKernelsCount) {
  const TemporaryFolder proc(testing::TempDir());
  write(proc.path() / "self/io",
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 9\n");
  const ProcessUsage usage = process_usage(proc.path());
  EXPECT_EQ(usage.storage_bytes_read, 8192U);
  EXPECT_EQ(usage.storage_bytes_written, 4096U);
}

TEST(ProcessUsage, WaitForBlockDevicesIsSummedOverThreads) {
  const TemporaryFolder proc(testing::TempDir());
  write(proc.path() / "sys/kernel/task_delayacct", "1\n");
  write(proc.path() / "self/task/7/stat", stat_line(30));
  write(proc.path() / "self/task/8/stat", stat_line(12));
  const auto waited = process_usage(proc.path()).io_wait_seconds;
  ASSERT_TRUE(waited.has_value());
  EXPECT_DOUBLE_EQ(*waited, 42.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST(ProcessUsage, WhatTheKernelDoesNotCountIsUnsetAndNotZero) {
  const TemporaryFolder proc(testing::TempDir());
  write(proc.path() / "sys/kernel/task_delayacct", "0\n");
  write(proc.path() / "self/task/7/stat", stat_line(30));
  const ProcessUsage usage = process_usage(proc.path());
  EXPECT_FALSE(usage.io_wait_seconds.has_value());
  EXPECT_FALSE(usage.storage_bytes_read.has_value());
  EXPECT_FALSE(usage.storage_bytes_written.has_value());
}

}  // namespace
}  // namespace podere
