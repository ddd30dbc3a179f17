// What the kernel has counted for this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace podere {

/// Since the process began, over all of its threads.
struct ProcessUsage {
  double user_seconds = 0;    ///< of CPU
  double system_seconds = 0;  ///< of CPU, in the kernel on behalf of the process
  /// What came from, or went to, the storage itself; unset where the kernel does not count it.
  std::optional<std::uint64_t> storage_bytes_read = {};
  std::optional<std::uint64_t> storage_bytes_written = {};
  /// Time that the threads which are there now have waited for block devices; unset unless the kernel keeps it, which
  /// it does with the setting kernel.task_delayacct.
  std::optional<double> io_wait_seconds = {};
};

/// `proc` is where /proc is looked for (tests give another).
ProcessUsage process_usage(const std::filesystem::path& proc = "/proc");

}  // namespace podere
