#include "podere/scaling/messages.h"

#include <cmath>

namespace podere::scaling {
namespace {

constexpr double kShortBytes = 10'000;  // of an all_reduce: coll_tuned_decision_fixed.c of Open MPI 4.1
constexpr double kRingBelow = 64;       // executors: above, a reduce_scatter goes by halving

struct Cost {
  double steps = 0;  ///< of a call
  double bytes = 0;  ///< that an executor sends in all calls
};

/// Bytes of one executor's part, whatever the number of executors is, of what `n_counted` sent.
double bytes_put_in(const Collectives& collectives, double n_counted) {
  const auto sent = static_cast<double>(collectives.bytes);
  if (collectives.kind == "all_reduce") return sent * n_counted / (2 * (n_counted - 1));
  if (collectives.kind == "reduce_scatter" || collectives.kind == "all_to_all")
    return sent * n_counted / (n_counted - 1);
  if (collectives.kind == "all_gather") return sent / (n_counted - 1);
  return sent;
}

Cost cost_of(const Collectives& collectives, double n_counted, double p) {
  const double doubling = std::ceil(std::log2(p));
  const double n = bytes_put_in(collectives, n_counted);
  const bool is_short = n < kShortBytes * static_cast<double>(collectives.calls);
  if (collectives.kind == "all_reduce") {
    return is_short ? Cost{doubling, doubling * n} : Cost{2 * (p - 1), 2 * n * (p - 1) / p};
  }
  if (collectives.kind == "reduce_scatter") return {p < kRingBelow ? p - 1 : doubling, n * (p - 1) / p};
  if (collectives.kind == "all_to_all") return {p - 1, n * (p - 1) / p};
  if (collectives.kind == "all_gather") return {doubling, n * (p - 1)};
  return {doubling, doubling * n};  // broadcast, scan, barrier
}

}  // namespace

double message_seconds(const std::vector<Collectives>& collectives, int n_counted, int n_executors,
                       const Network& network) {
  if (n_executors < 2) return 0;
  const double bytes_a_second = network.gigabits * 1e9 / 8;
  double seconds = 0;
  for (const Collectives& each : collectives) {
    const Cost cost = cost_of(each, n_counted, n_executors);
    seconds += static_cast<double>(each.calls) * cost.steps * network.latency_us * 1e-6 + cost.bytes / bytes_a_second;
  }
  return seconds;
}

}  // namespace podere::scaling
