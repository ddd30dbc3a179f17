// How many executors the cluster has room for, and how they are divided among farms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/farm/divide.h"
#include "podere/farm/state.h"

namespace podere::farm {

/// Room in pools: the sum of a resource over a set of nodes. Counts what nodes cannot be filled with as used: where
/// nodes of 64 cores hold 21 executors of 3, each executor costs 64/21 cores. Placement may still fail where shapes
/// mix.
class Capacity {
 public:
  /// `usable`: what farms may use of each node. `shapes`: those that are going to be asked for.
  Capacity(const State& state, const std::vector<Resources>& usable, std::span<const std::int32_t> shapes);

  /// How many executors the empty cluster has room for.
  std::int64_t slots(std::int32_t shape) const { return costs_[shape].slots; }
  /// The largest fraction that an executor uses of a pool (DRF: Ghodsi et al., NSDI 2011).
  double dominant_share(std::int32_t shape) const { return costs_[shape].dominant_share; }

  /// The fullest pool if all claims were met: above 1, they cannot be.
  double load(std::span<const Claim> claims) const;

  /// Divides the room that is left, and uses it up; see divide.h.
  std::vector<std::int32_t> divide(std::span<const Claim> claims);

 private:
  struct Cost {
    bool is_known = false;
    std::int64_t slots = 0;
    double dominant_share = 0;
    PoolCosts pools;
  };
  void find_cost(const State& state, const std::vector<Resources>& usable, std::int32_t shape);

  Pools pools_;
  std::vector<std::int32_t> sets_;  // distinct ones; pool i * n_resources + r is resource r of sets_[i]
  std::vector<Cost> costs_;         // by shape
};

}  // namespace podere::farm
