#include "podere/comm/traffic.h"

namespace podere::comm {

std::string_view to_string(Collective collective) {
  constexpr std::array<std::string_view, kCollectives> kNames = {
      "barrier", "broadcast", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "scan"};
  return kNames[static_cast<std::size_t>(collective)];
}

TrafficByKind traffic_since(const TrafficByKind& before, const TrafficByKind& now) {
  TrafficByKind added;
  for (std::size_t k = 0; k < kCollectives; ++k) {
    added[k] = {now[k].calls - before[k].calls, now[k].bytes - before[k].bytes, now[k].seconds - before[k].seconds};
  }
  return added;
}

}  // namespace podere::comm
