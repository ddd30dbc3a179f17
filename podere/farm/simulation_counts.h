// What is counted in a simulation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/farm/simulation.h"
#include "podere/farm/state.h"

namespace podere::farm {

/// Looks on while a simulation changes its state, and keeps no hold of how it does so.
class SimulationCounts {
 public:
  SimulationCounts(const Trace& trace, const State& state);

  void pass(double seconds);
  void change_capacity(const Resources& change);
  void lose_node(std::int32_t node);
  void add_farm();
  void change_farm(std::int32_t farm, double now, const Resources& executor);
  void add_pod();
  /// The pod at `index`, after which the last pod stands there.
  void remove_pod(const Pod& pod, std::size_t index, double now);

  /// An executor got its node; returns how many its farm now holds.
  std::int32_t place(const Pod& pod, std::size_t index, double now);
  /// An executor with a node is to end.
  void leave(const Pod& pod, double now);
  void lose_work(const Pod& pod, double now);

  void decided(double seconds);
  /// Before they are carried out.
  void note_reclaims(std::span<const Reclaim> reclaims);
  /// What farms are due by now, and how fairly borrowed room is divided.
  void look_at_shares(std::span<const Outlook> outlooks, double now);

  SimulationReport report(double now);

 private:
  /// Who had a room, and how that ended.
  struct Occupant {
    std::int32_t farm = -1;
    double left = 0;
    bool was_reclaimed = false;  // for another farm
  };
  struct Room {
    Occupant last;
    Occupant before;
  };
  struct FarmCounts {
    std::int32_t held = 0;
    std::int32_t missing = 0;  // below its guarantee
    double below_since = -1;   // its guarantee; -1: it is not
    double changed = 0;        // when it last wanted another number, or was due another share
    std::int32_t share = 0;
    std::int32_t wanted = 0;
    std::int64_t cores = 0;  // of an executor
  };
  std::int32_t due(std::size_t farm) const;
  void look_at(std::int32_t farm, double now);
  void look_at_room(const Room& room, std::int32_t farm, double now);
  std::int64_t missing() const;

  const State& state_;
  bool is_uniform_;
  SimulationReport report_;
  std::vector<FarmCounts> farms_;
  std::vector<double> waits_;
  std::vector<Room> had_before_;               // of each pod: who had its room before
  std::vector<std::vector<Room>> free_rooms_;  // of each node, the last that was freed behind
  double capacity_ = 0;                        // cores, as all that follow
  double used_ = 0;
  double asked_ = 0;
  std::int64_t missing_ = 0;  // executors, below guarantees
  double used_seconds_ = 0;
  double capacity_seconds_ = 0;
  double askable_seconds_ = 0;
  double fairness_sum_ = 0;
  std::uint64_t n_fairness_ = 0;
};

}  // namespace podere::farm
