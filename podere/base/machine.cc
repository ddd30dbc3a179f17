#include "podere/base/machine.h"

#include <sched.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace podere {
namespace {

namespace fs = std::filesystem;

/// The numbers at the start of a file; "max" and what is not a number end the list.
std::vector<double> numbers_in(const fs::path& path) {
  std::ifstream file(path);
  std::vector<double> numbers;
  double number = 0;
  while (file >> number) numbers.push_back(number);
  return numbers;
}

template <typename T>
void lower(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

/// Where this process is in each hierarchy: "" is that of v2, others are controllers of v1.
std::map<std::string, fs::path> hierarchies(const fs::path& root) {
  std::map<std::string, fs::path> result;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // number:controller,controller:/path
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (controllers.peek() == std::istringstream::traits_type::eof()) result[""] = path;
    for (std::string controller; std::getline(controllers, controller, ',');) result[controller] = path;
  }
  return result;
}

/// Calls `visit` on the folder of `path` below `mount` and on all around it. Inside a container the inner path may
/// be unknown to the mount; then only the mount itself is there.
template <typename Visit>
void visit_up(const fs::path& mount, fs::path path, Visit&& visit) {
  while (!path.empty()) {
    visit(mount / path);
    path = path.parent_path();
  }
  visit(mount);
}

constexpr double kNoLimit = 0x1p60;  // v1 writes "no limit" as the largest number of whole pages

#if defined(__x86_64__)
std::vector<std::string> simd_found() {
  std::vector<std::string> found;
  if (__builtin_cpu_supports("avx2")) found.emplace_back("AVX2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) found.emplace_back("AVX-512");
  return found;
}
#elif defined(__aarch64__)
std::vector<std::string> simd_found() {
  std::vector<std::string> found = {"NEON"};
  if (getauxval(AT_HWCAP) & HWCAP_SVE) found.emplace_back("SVE");
  return found;
}
#else
std::vector<std::string> simd_found() { return {}; }
#endif

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

int affinity_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));  // more cores than cpu_set_t holds
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  const auto limit_memory = [&](const std::vector<double>& bytes) {
    if (!bytes.empty() && bytes[0] < kNoLimit) lower(limits.memory_bytes, static_cast<std::uint64_t>(bytes[0]));
  };
  for (const auto& [controller, path] : hierarchies(root)) {
    if (controller.empty()) {
      for (const fs::path& v2 : {mount, mount / "unified"}) {
        visit_up(v2, path, [&](const fs::path& folder) {
          const auto cpu = numbers_in(folder / "cpu.max");  // "quota period" in microseconds, or "max period"
          if (cpu.size() == 2 && cpu[1] > 0) lower(limits.cores, cpu[0] / cpu[1]);
          limit_memory(numbers_in(folder / "memory.max"));
        });
      }
    } else if (controller == "cpu") {
      visit_up(mount / "cpu", path, [&](const fs::path& folder) {
        const auto quota = numbers_in(folder / "cpu.cfs_quota_us");  // -1: no limit
        const auto period = numbers_in(folder / "cpu.cfs_period_us");
        if (!quota.empty() && !period.empty() && quota[0] > 0 && period[0] > 0) {
          lower(limits.cores, quota[0] / period[0]);
        }
      });
    } else if (controller == "memory") {
      visit_up(mount / "memory", path,
               [&](const fs::path& folder) { limit_memory(numbers_in(folder / "memory.limit_in_bytes")); });
    }
  }
  return limits;
}

int Machine::usable_cores() const {
  const double quota = limits.cores.value_or(affinity_cores);
  return std::max(1, std::min(affinity_cores, static_cast<int>(std::ceil(quota))));
}

Machine this_machine() {
  return {.cpu = cpu_name(),
          .affinity_cores = affinity_cores(),
          .limits = cgroup_limits(),
          .memory_bytes =
              static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
          .simd = simd_found()};
}

}  // namespace podere
