// What collectives cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace podere::comm {

enum class Collective { kBarrier, kBroadcast, kAllReduce, kReduceScatter, kAllGather, kAllToAll, kScan };
inline constexpr std::size_t kCollectives = 7;
/// "all_reduce" and so on.
std::string_view to_string(Collective collective);

/// What collectives of one kind cost a rank.
struct Traffic {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  ///< that it sent, as stands beside each collective: MPI may send more, never less
  double seconds = 0;       ///< in the calls: sending, combining, and waiting for ranks that came later
};
using TrafficByKind = std::array<Traffic, kCollectives>;
/// What was added since `before`.
TrafficByKind traffic_since(const TrafficByKind& before, const TrafficByKind& now);

}  // namespace podere::comm
