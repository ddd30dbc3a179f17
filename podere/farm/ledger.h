// What a decision knows and changes while it is made: who holds what, what room there is, what was decided so far.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "podere/farm/policy.h"
#include "podere/farm/room.h"

namespace podere::farm {

/// One farm's executors. Those that are ending or reclaimed are no longer its own.
struct Account {
  std::int32_t held = 0;               ///< have a node
  std::int32_t waiting = 0;            ///< have none
  std::int32_t returning = 0;          ///< reclaimed for another farm, not gone, and soon asked for again
  std::int32_t oldest_returning = -1;  ///< a pod
  std::int32_t reclaimed = 0;          ///< of those held, by this decision
  std::int32_t planned = 0;            ///< the same, with those to be reclaimed when they have run their least time
  std::int32_t shape = -1;             ///< of the executors it asks for; -1: it has none and asks for none
  std::int32_t demand = 0;
  std::int32_t allowed = 0;  ///< the last four as in Outlook
  std::int32_t guarantee_ceiling = -1;
  std::int32_t demand_ceiling = -1;
  std::int32_t guaranteed = 0;
  std::int32_t share = 0;

  std::int32_t staying() const { return held - reclaimed; }
  std::int32_t over(std::int32_t floor) const { return held - planned - floor; }
};

/// How an executor that is missing can be had.
enum class Wait : std::uint8_t { kUnknown, kStart, kDrain, kRuntime, kRetry, kRoom, kTooLarge, kHeldByOthers };

/// An executor that a farm waits for below its guarantee, or below its share.
struct Need {
  std::int32_t farm;
  std::int32_t shape;
  std::int32_t pod;  ///< -1: to be created
  bool is_guarantee;
  double fullness;          ///< of the farm without it: the least first
  bool from_equals = true;  ///< else only farms of lower priority lose for it
  std::int32_t node = -1;   ///< where it will have room
  Wait wait = Wait::kUnknown;

  std::int32_t victim = -1;  ///< the pod that makes room for it alone
  double from = 0;           ///< when executors can be reclaimed for it, where it waits for that

  bool has_room() const { return node >= 0; }
};

struct Ledger {
  /// Farms that are `held_back` ask for nothing.
  Ledger(const State& state, const Policy& policy, const std::vector<bool>& held_back);

  const State& state;
  const Policy& policy;
  Room room;
  std::vector<Account> accounts;         // by farm
  std::vector<std::int32_t> farms;       // by key
  std::vector<std::int32_t> farm_rank;   // the place of each in `farms`
  std::vector<std::int32_t> priorities;  // of farms, each once, the highest first
  std::vector<std::int32_t> group;       // of each: the first farm by key of its namespace
  std::vector<std::int32_t> shapes;      // that are asked for, each once
  std::vector<Resources> usable;         // of each node, by farms' executors
  std::vector<std::int32_t> draining;    // reclaimed for a farm and not gone: by that, and by node
  std::vector<std::uint8_t> is_leaving;  // pods: ending, reclaimed, or to go by this decision
  std::vector<double> freed_from;        // of each node: when all that go by this decision can be reclaimed
  std::vector<Need> needs;               // below guarantees, then below shares
  Decision decision;

  const Shape& shape(std::int32_t index) const { return state.shapes[index]; }
  const Pod& pod(std::int32_t index) const { return state.pods[index]; }
  const Resources& requests_of(std::int32_t index) const { return shape(pod(index).shape).requests; }
  const Farm& farm(std::int32_t index) const { return state.farms[index]; }

  /// Executors of a farm that stay, in the order of the state.
  std::span<const std::int32_t> executors(std::int32_t farm) const {
    return std::span(by_farm_).subspan(first_of_farm_[farm], first_of_farm_[farm + 1] - first_of_farm_[farm]);
  }
  /// Those among them without a node, the oldest first.
  std::vector<std::int32_t> waiting(std::int32_t farm) const;

  bool is_older(std::int32_t a, std::int32_t b) const {
    return std::tie(pod(a).created, pod(a).uid) < std::tie(pod(b).created, pod(b).uid);
  }

  /// Whether some schedulable node would have room for one, were nothing else there.
  bool fits_an_empty_node(std::int32_t shape) const;

  /// From when an executor may be reclaimed.
  double reclaimable_from(std::int32_t pod) const;

 private:
  void count(std::int32_t pod);
  void sort_farms();
  void group_by_farm();
  void set_demands(const std::vector<bool>& held_back);
  void note_shape(std::int32_t shape);

  std::vector<std::int32_t> by_farm_;
  std::vector<std::int32_t> first_of_farm_;
  std::vector<std::uint8_t> shape_is_noted_;
};

/// Seconds of work that are lost with an executor: since its checkpoint, or since it was ready.
double work_at_risk(const Pod& pod, double now);

/// Executors in the order in which to reclaim them: not ready, then least work lost, then youngest. Sorts as far as it
/// is asked, as few of many are reclaimed.
class VictimOrder {
 public:
  VictimOrder() = default;
  /// With `by_time`, those that may be reclaimed first come first.
  VictimOrder(const Ledger& ledger, std::span<const std::int32_t> pods, bool by_time);

  std::size_t size() const { return victims_.size(); }
  std::int32_t operator[](std::size_t i) {
    if (i >= n_sorted_) sort_more(i);
    return victims_[i].pod;
  }

 private:
  struct Victim {
    double reclaimable_from;
    bool is_ready;
    double at_risk;
    double age;
    std::int32_t pod;
  };
  void sort_more(std::size_t i);

  const State* state_ = nullptr;
  std::vector<Victim> victims_;
  std::size_t n_sorted_ = 0;
};

}  // namespace podere::farm
