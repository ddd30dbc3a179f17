#include "podere/base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <string_view>

#include "podere/base/machine.h"

namespace podere {
namespace {

std::atomic<std::uint64_t> peak_before = 0;  // before the kernel's own count was reset

/// The line "name: N kB" of a file of proc(5), in bytes.
std::optional<std::uint64_t> bytes_in(const char* path, std::string_view wanted) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t kilobytes = 0;
  while (file >> name) {
    if (name == wanted && file >> kilobytes) return kilobytes * 1024;
    file.ignore(4096, '\n');
  }
  return std::nullopt;
}

/// As the kernel counts it.
std::uint64_t counted_peak_bytes() {
  // VmHWM starts anew with exec; ru_maxrss includes the program that was there before.
  if (const auto peak = bytes_in("/proc/self/status", "VmHWM:")) return *peak;
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

std::uint64_t memory_bytes() { return bytes_in("/proc/self/status", "VmRSS:").value_or(0); }

std::uint64_t peak_memory_bytes() { return std::max(peak_before.load(), counted_peak_bytes()); }

std::uint64_t take_peak_memory_bytes() {
  const std::uint64_t peak = counted_peak_bytes();
  for (std::uint64_t before = peak_before; before < peak && !peak_before.compare_exchange_weak(before, peak);) {
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): the peak becomes what is held now
  return peak;
}

std::optional<std::uint64_t> available_memory_bytes() {
  const std::optional<std::uint64_t> available = bytes_in("/proc/meminfo", "MemAvailable:");
  const std::optional<std::uint64_t> limit = cgroup_limits().memory_bytes;
  if (!available || !limit) return available ? available : limit;
  return std::min(*available, *limit);
}

void give_way_where_memory_runs_out() {
  constexpr const char* kScore = "/proc/self/oom_score_adj";  // proc(5): anyone may raise it
  constexpr int kMostScore = 1000;
  constexpr int kWeight = 500;  // as if half of all memory were held
  int score = 0;
  if (std::ifstream(kScore) >> score) std::ofstream(kScore) << std::min(score + kWeight, kMostScore);
}

}  // namespace podere
