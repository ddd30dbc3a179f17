// How much memory this process used.
#pragma once

#include <cstdint>

namespace podere {

/// The most memory, in bytes, that this process has held in RAM at one time.
std::uint64_t peak_memory_bytes();

}  // namespace podere
