// Streams of random numbers (base/hash.h), whose counter is the number of a tree.
#pragma once

#include <cstdint>

namespace podere::isolation {

inline constexpr std::uint64_t kSampleStream = 0x6966;  ///< which rows a tree is grown of
inline constexpr std::uint64_t kSplitStream = 0x6967;   ///< its splits

}  // namespace podere::isolation
