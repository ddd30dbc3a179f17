// Which use of random numbers a hash belongs to.
#pragma once

#include <cstdint>

namespace podere::neural {

inline constexpr std::uint64_t kWeightStream = 1;      // counter: layer, output, input
inline constexpr std::uint64_t kShuffleStream = 2;     // counter: epoch, row block
inline constexpr std::uint64_t kBlockOrderStream = 3;  // counter: epoch, round
inline constexpr std::uint64_t kValidationStream = 4;  // counter: row
inline constexpr std::uint64_t kDropoutStream = 5;     // counter: epoch, step of it, layer, row, unit

}  // namespace podere::neural
