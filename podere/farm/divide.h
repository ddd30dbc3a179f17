// How executors are divided among farms that together ask for more than there is.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace podere::farm {

/// So many executors are asked for, and come at this speed while all claims grow together.
struct Claim {
  std::int32_t shape;
  std::int32_t most;
  double speed;
  std::int32_t group = -1;  ///< with which it shares what one claim alone would have; -1: it is alone
};

/// What an executor uses of pools.
using PoolCosts = std::vector<std::pair<std::uint32_t, double>>;

/// What there is to be divided, in any unit.
struct Pools {
  std::vector<double> sizes;
  std::vector<double> left;

  bool have_room(const PoolCosts& costs) const;
  void use(const PoolCosts& costs, double executors);
  bool are_not_overdrawn() const;
};

/// Lets all claims grow at their speeds, those of a group together as fast as one, until they are met or a pool they
/// need is used up, and rounds to whole executors: down, then up by largest remainder while there is room (ties: the
/// first). Uses up the room. That is weighted max-min fairness: a claim below an equal share is met, however much
/// others ask for.
std::vector<std::int32_t> divide(std::span<const Claim> claims, std::span<const PoolCosts* const> costs, Pools& pools);

}  // namespace podere::farm
