// What this machine lets this process use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace podere {

/// What the control groups of a process (v1 or v2, its own and those around it) allow. Unset: no limit.
struct CgroupLimits {
  std::optional<double> cores = {};
  std::optional<std::uint64_t> memory_bytes = {};
};

/// Limits of this process. `root` is where /proc and /sys/fs/cgroup are looked for (tests give another).
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

struct Machine {
  std::string cpu = {};    ///< its name, if the system reports it
  int affinity_cores = 1;  ///< cores that the scheduler may put this process on
  CgroupLimits limits = {};
  std::uint64_t memory_bytes = 0;      ///< RAM of the machine
  std::vector<std::string> simd = {};  ///< of AVX2, AVX-512, NEON, SVE

  /// Cores worth using: the affinity, or the quota rounded up if that is less; at least 1.
  int usable_cores() const;
};

Machine this_machine();

}  // namespace podere
