#include "podere/base/memory.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace podere {

std::uint64_t peak_memory_bytes() {
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

}  // namespace podere
