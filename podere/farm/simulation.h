// What policies do to a cluster over hours: a simulation of discrete events.
#pragma once

#include <cstdint>
#include <string>

#include "podere/farm/policy.h"
#include "podere/farm/trace.h"

namespace podere::farm {

struct SimulationOptions {
  Policy policy;
  bool is_original = false;  ///< decide as the operator of 2019 did, instead
  std::uint64_t seed = 1;    ///< of how long executors take to start, to drain and to end
};

/// How a simulation went. Times are seconds.
struct SimulationReport {
  double simulated = 0;
  std::uint64_t decisions = 0;
  double decision_seconds = 0;  ///< of the processor, all decisions together

  // Farms that came below what they are guaranteed, or asked for more of it, until they had it: executors on nodes.
  std::uint64_t waits = 0;
  std::uint64_t waits_unfinished = 0;  ///< at the end; their time so far counts too
  double wait_median = 0;
  double wait_p99 = 0;
  double wait_longest = 0;
  double missing = 0;  ///< executor-seconds below guarantees

  std::uint64_t reclaimed = 0;             ///< executors, for guarantees
  std::uint64_t reclaimed_for_shares = 0;  ///< for shares of borrowed room
  /// For guarantees, more than was missing at that moment less room that was free or on its way; -1: executors are not
  /// all alike, and it cannot be counted.
  std::int64_t reclaimed_needlessly = 0;
  std::uint64_t returned = 0;  ///< rooms that were reclaimed from a farm and went back to it within an hour
  /// Rooms that were reclaimed from A for B and from B for A within an hour in which neither wanted another number, nor
  /// was due another share.
  std::uint64_t cycles = 0;
  double work_lost = 0;  ///< executor-seconds since checkpoints, of those reclaimed

  double utilization = 0;           ///< of cores, by executors that are to stay
  double utilization_of_asked = 0;  ///< of what is asked for, or of the cluster if that is less
  double fairness = 0;  ///< Jain's index of borrowing executors over weight, of farms that want more than they have
  std::uint64_t started = 0;  ///< executors
};

/// Throws InputError for executors that may run on nodes that are not there.
SimulationReport simulate(const Trace& trace, const SimulationOptions& options);

}  // namespace podere::farm
