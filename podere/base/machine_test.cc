#include "podere/base/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "podere/base/huge_array.h"
#include "podere/base/memory.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

/// A folder that is used as "/", filled by write().
class CgroupLimitsOf : public testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_ = fs::temp_directory_path() / ("podere-machine-test-" + std::to_string(getpid()));
};

TEST_F(CgroupLimitsOf, AProcessWithoutControlGroupsAreNone) {
  const auto limits = cgroup_limits(root_);
  EXPECT_FALSE(limits.cores);
  EXPECT_FALSE(limits.memory_bytes);
}

TEST_F(CgroupLimitsOf, Version2AreTheTightestOfItsFolderAndThoseAround) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/user/job/memory.max", "1073741824\n");
  write("sys/fs/cgroup/user/memory.max", "max\n");
  const auto limits = cgroup_limits(root_);
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1073741824u);
}

TEST_F(CgroupLimitsOf, Version1AreFoundBesideAnEmptyVersion2) {
  write("proc/self/cgroup", "4:memory:/box\n3:cpu,cpuacct:/box\n0::/\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "5000000\n");
  const auto limits = cgroup_limits(root_);
  EXPECT_EQ(limits.cores, 2.0);
  EXPECT_EQ(limits.memory_bytes, 5000000u);
}

TEST_F(CgroupLimitsOf, Version1WithoutLimitsAreNone) {
  write("proc/self/cgroup", "4:memory:/box\n1:cpu:/box\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  const auto limits = cgroup_limits(root_);
  EXPECT_FALSE(limits.cores);
  EXPECT_FALSE(limits.memory_bytes);
}

TEST_F(CgroupLimitsOf, AContainerAreThoseOfTheMountWhenThePathIsUnknownThere) {
  write("proc/self/cgroup", "0::/kubepods/pod7/abc\n");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_limits(root_).cores, 4.0);
}

TEST_F(CgroupLimitsOf, AnUnreadableListAreNone) {
  write("proc/self/cgroup", "nonsense\n::\n0:\n");
  EXPECT_FALSE(cgroup_limits(root_).cores);
}

TEST(Machine, UsesWhatBothAffinityAndQuotaAllow) {
  EXPECT_EQ((Machine{.affinity_cores = 8}.usable_cores()), 8);
  EXPECT_EQ((Machine{.affinity_cores = 8, .limits = {.cores = 2.5}}.usable_cores()), 3);
  EXPECT_EQ((Machine{.affinity_cores = 2, .limits = {.cores = 16.0}}.usable_cores()), 2);
  EXPECT_EQ((Machine{.affinity_cores = 8, .limits = {.cores = 0.1}}.usable_cores()), 1);
}

TEST(Machine, ThisOneHasCoresAndMemory) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.usable_cores(), 1);
  EXPECT_GT(machine.memory_bytes, 1u << 20);
}

TEST(PeakMemory, GrowsWithWhatIsTouched) {
  const auto before = peak_memory_bytes();
  ASSERT_GT(before, 0u);
  const std::size_t n = before + (64 << 20);
  const std::vector<char> touched(n, 1);
  EXPECT_GE(peak_memory_bytes(), touched.size());
}

TEST(PeakMemory, ThatOfAPhaseForgetsThePhaseBeforeAndThatOfTheProcessDoesNot) {
  constexpr std::size_t kLarge = 96 << 20;
  take_peak_memory_bytes();
  {
    HugeArray<char> touched(kLarge);  // released at once, under sanitizers too
    std::fill_n(touched.data(), kLarge, 1);
  }
  const auto first = take_peak_memory_bytes();
  EXPECT_GE(first, kLarge);
  EXPECT_LT(take_peak_memory_bytes(), first);
  EXPECT_GE(peak_memory_bytes(), first);
}

}  // namespace
}  // namespace podere
