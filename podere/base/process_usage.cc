#include "podere/base/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace podere {
namespace {

namespace fs = std::filesystem;

constexpr int kBlockWaitField = 42;  // of stat, counted from 1: proc(5), delayacct_blkio_ticks

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// "1234 (a name) S 1 ...": what the name holds may be anything.
double block_wait_ticks(const fs::path& stat) {
  std::ifstream file(stat);
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;  // the thread has just ended
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int i = 3; i < kBlockWaitField; ++i) fields >> field;
  double ticks = 0;
  fields >> ticks;
  return ticks;
}

bool keeps_block_wait(const fs::path& proc) {
  std::ifstream setting(proc / "sys/kernel/task_delayacct");
  int is_on = 0;
  return setting >> is_on && is_on != 0;
}

/// The kernel counts it for each thread, and with the process for its first thread alone.
std::optional<double> block_wait_seconds(const fs::path& proc) {
  if (!keeps_block_wait(proc)) return std::nullopt;
  double ticks = 0;
  std::error_code unknown;
  for (const auto& thread : fs::directory_iterator(proc / "self/task", unknown)) {
    ticks += block_wait_ticks(thread.path() / "stat");
  }
  if (unknown) return std::nullopt;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void read_storage_bytes(const fs::path& proc, ProcessUsage& usage) {
  std::ifstream file(proc / "self/io");
  std::string name;
  std::uint64_t value = 0;
  while (file >> name >> value) {
    if (name == "read_bytes:") usage.storage_bytes_read = value;
    if (name == "write_bytes:") usage.storage_bytes_written = value;
  }
}

}  // namespace

ProcessUsage process_usage(const fs::path& proc) {
  rusage counted = {};
  getrusage(RUSAGE_SELF, &counted);
  ProcessUsage usage{.user_seconds = seconds(counted.ru_utime), .system_seconds = seconds(counted.ru_stime)};
  read_storage_bytes(proc, usage);
  usage.io_wait_seconds = block_wait_seconds(proc);
  return usage;
}

}  // namespace podere
