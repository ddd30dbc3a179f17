// Which executors to reclaim, to create and to remove, and why: a pure function of the state.
//
// Farms have executors up to their guarantee, and beyond it executors in borrowed room, which are reclaimed when
// another farm waits below its guarantee. What decide() holds:
// - no farm is pushed below the lesser of its demand and its guarantee; drivers are never reclaimed;
// - no farm waits below its guarantee while another holds borrowed room that would help, once reclaimed executors have
//   drained, have run their least time, and no other pods use the room;
// - no more is reclaimed than is needed: free room, and room of pods that are ending or draining, comes first. Where
//   one executor makes room for one, each borrower loses in proportion to how far it is over its guarantee, exact by
//   largest remainder (ties: the farm further over, then by key). Where several must go to make room for one, the node
//   is chosen where the fewest must;
// - guarantees that exceed the room for them, or a ceiling, are cut from above: namespaces, and farms in them, that ask
//   for less than an equal part have it, however much others ask for (max-min fairness, divide.h);
// - farms of the highest priority borrow first, and room is reclaimed from those of the lowest first, also for the
//   borrowed room that farms of higher priority ask for; guarantees are as safe and as strong whatever the priority;
// - a gang starts with all that it is guaranteed of what it wants, or not at all: while there is no way to room for all
//   of them it has none, and nothing is reclaimed for it (gang.h);
// - of a farm, executors that are not ready go first, then those that lose the least work, then the youngest;
// - executors in borrowed room are created only where room is free that no guaranteed executor waits for, of farms
// below
//   their share first, then of those with the smallest weighted share.
// The order of farms, pods and nodes in the state does not matter. docs/farms.md has an example in numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "podere/farm/state.h"

namespace podere::farm {

enum class Mode : std::uint8_t {
  kProportional,  ///< executors are reclaimed for guarantees only, and for farms of higher priority
  kFairShare,     ///< also to divide borrowed room by weight (weighted max-min)
  kHistoryAware,  ///< the same with weights divided by what the farm has used of late
};

struct Policy {
  Mode mode = Mode::kProportional;
  /// A farm that has executors reclaims for its share of borrowed room when it is short by more than this fraction of
  /// the share, and by more than one.
  double share_tolerance = 0.1;
  /// After which half of what a farm has used is forgotten.
  double half_life_seconds = 86400;
  /// Seconds past its deadline after which the room of a pod that does not end is no longer waited for.
  double stuck_seconds = 300;
  /// Where room freed for a farm went to other pods, seconds until more is freed; doubles with each.
  double retry_seconds = 30;
  /// Executors of each farm that are created though no room exists for them, at most: they show autoscalers and
  /// administrators what of its guarantee is cut.
  std::int32_t pending_pods = 0;
};

/// An executor is to drain, and to be deleted at the deadline.
struct Reclaim {
  std::int32_t pod;
  std::int32_t from;  ///< farm
  std::int32_t for_farm;
  bool for_guarantee;  ///< else for a share of borrowed room, such as a farm of higher priority has
  double deadline;
};

/// An executor of a farm that has a template is to be created. One that is guaranteed should have a priority in the
/// scheduler (of a class that does not preempt), so that room freed for it does not go to pods that others make.
struct Creation {
  std::int32_t farm;
  std::int32_t node;  ///< which has room for it now, as a preference; -1: none has
  bool is_borrowed;
  bool awaits_drain = false;   ///< room is being freed for it, or for the rest of its gang: until that is free, it may
                               ///< as well not be there
  bool shows_missing = false;  ///< there is no room for it: it only shows what of a guarantee is cut
};

/// An executor of a farm that has a template is to be deleted: one that waits at once, another is to drain as if it
/// were reclaimed, until the deadline.
struct Removal {
  std::int32_t pod;
  double deadline;
  bool is_surplus;  ///< the farm wants fewer, or is a gang that does not start; else it is outdated, or there is no
                    ///< more free room to borrow
};

/// Executors that a farm waits for, by how they can be had.
struct Waiting {
  std::int32_t for_start = 0;       ///< there is room; the scheduler and the node have to do their part
  std::int32_t for_drain = 0;       ///< room is being freed, or others are ending
  std::int32_t for_runtime = 0;     ///< executors that will be reclaimed have not run their least time
  std::int32_t for_retry = 0;       ///< other pods use the room that was freed
  std::int32_t for_room = 0;        ///< there is no room that may be reclaimed
  std::int32_t too_large = 0;       ///< no schedulable node is large enough
  std::int32_t held_by_others = 0;  ///< nodes are large enough, but pods of no farm, or drivers, hold the room
  std::int32_t for_gang = 0;        ///< their gang does not start, as there is no room for all of it

  /// Of those that are on their way.
  std::int32_t prospective() const { return for_start + for_drain + for_runtime + for_retry; }
  std::int32_t all() const { return prospective() + for_room + too_large + held_by_others + for_gang; }
};

/// So many executors of a farm.
struct FarmExecutors {
  std::int32_t farm;
  std::int32_t executors;
};

/// How a farm stands, and what it waits for.
struct Outlook {
  std::int32_t held = 0;     ///< executors that have a node and are to stay
  std::int32_t demand = 0;   ///< executors it asks for
  std::int32_t allowed = 0;  ///< what its guarantee counts as within ceilings, whatever it asks for
  std::int32_t guaranteed =
      0;                   ///< of what it asks for; less than `allowed` if all guarantees together exceed the cluster
  std::int32_t share = 0;  ///< what it may hold before others reclaim from it; at least `guaranteed`
  Waiting guarantee;       ///< below the guarantee
  Waiting beyond;          ///< for borrowed room
  std::vector<FarmExecutors> from;      ///< whose executors are ending for it, by key
  double drained_by = 0;                ///< when those will be gone
  double retry_at = 0;                  ///< when executors that have not run their least time can be reclaimed
  std::int32_t shape = -1;              ///< of the executors it asks for; -1: it has none and asks for none
  std::int32_t guarantee_ceiling = -1;  ///< in State::ceilings, by which `allowed` is less than its guarantee; -1: none
  std::int32_t demand_ceiling = -1;     ///< by which it asks for less than it wants
  std::int32_t gang = 0;                ///< executors that are to start together; 0: it is no gang, or has started
  std::int32_t gang_room = 0;           ///< if it does not start: for how many of them there is room

  /// Executors that it waits for with a right to them, unless all guarantees together exceed the cluster.
  std::int32_t entitled() const { return std::min(allowed, demand); }
};

struct Decision {
  std::vector<Reclaim> reclaims;
  std::vector<Creation> creations;
  std::vector<Removal> removals;
  std::vector<std::int32_t> expired;  ///< reclaimed pods past their deadline: to be deleted
  std::vector<Outlook> outlooks;      ///< one a farm
  double guaranteed_load = 0;         ///< all guarantees asked for within ceilings, as a fraction of the cluster
};

/// Precondition: check(state) accepts it. Deterministic and idempotent: a decision may be carried out twice, or lost
/// and made again.
Decision decide(const State& state, const Policy& policy);

}  // namespace podere::farm
