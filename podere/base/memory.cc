#include "podere/base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>

namespace podere {
namespace {

std::atomic<std::uint64_t> peak_before = 0;  // of what the kernel was told to forget

/// As the kernel counts it.
std::uint64_t counted_peak_bytes() {
  // VmHWM starts anew with exec; ru_maxrss goes on from the program that was there before.
  std::ifstream status("/proc/self/status");
  std::string name;
  std::uint64_t kilobytes = 0;
  while (status >> name) {
    if (name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
    status.ignore(4096, '\n');
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

std::uint64_t peak_memory_bytes() { return std::max(peak_before.load(), counted_peak_bytes()); }

std::uint64_t take_peak_memory_bytes() {
  const std::uint64_t peak = counted_peak_bytes();
  for (std::uint64_t before = peak_before; before < peak && !peak_before.compare_exchange_weak(before, peak);) {
  }
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): the peak becomes what is held now
  return peak;
}

}  // namespace podere
