// How much memory this process used, and may use.
#pragma once

#include <cstdint>
#include <optional>

namespace podere {

/// The memory, in bytes, that this process holds in RAM now; 0 if the system does not report it.
std::uint64_t memory_bytes();

/// The most memory, in bytes, that this process has held in RAM at one time.
std::uint64_t peak_memory_bytes();

/// The same since it was last called, or since the process began. Thread-safe. Where the system does not let the count
/// begin anew it is peak_memory_bytes().
std::uint64_t take_peak_memory_bytes();

/// What this process can take without driving others out: what the system calls available, at most the limit of its
/// control group; nothing if the system does not report it.
std::optional<std::uint64_t> available_memory_bytes();

/// Where memory runs out the kernel is to end this process, and what it will start, before others of its size.
void give_way_where_memory_runs_out();

}  // namespace podere
