// Room on nodes: what is free now, what comes free when pods end, and what of both is promised.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "podere/farm/state.h"

namespace podere::farm {

/// Promises of room, one node after the other in the order of their names. A promise on a node where pods are ending
/// holds that node's free room too, as it may need both.
class Room {
 public:
  explicit Room(const State& state);

  /// Room that a pod uses now, and that it will leave if it `is_ending`.
  void use(std::int32_t node, const Resources& requests, bool is_ending);

  bool allows(std::int32_t shape, std::int32_t node) const;
  bool fits_now(std::int32_t shape, std::int32_t node) const {
    return allows(shape, node) && fits(state_.shapes[shape].requests, free_[node]);
  }
  bool fits_later(std::int32_t shape, std::int32_t node) const {
    return allows(shape, node) && fits(state_.shapes[shape].requests, room_later(node));
  }
  Resources room_later(std::int32_t node) const {
    Resources room = free_[node];
    room += ending_[node];
    return room;
  }

  /// A node where the shape fits now; -1: there is none.
  std::int32_t find_now(std::int32_t shape);
  /// A node where it fits when pods have ended, with or without the room that is kept for farms; -1: there is none.
  /// Fast while asked for one shape after the other.
  enum class Kept : std::uint8_t { kSpared, kUsed };
  std::int32_t find_later(std::int32_t shape, Kept kept);

  void promise(std::int32_t shape, std::int32_t node) { free_[node] -= state_.shapes[shape].requests; }
  void withdraw_promise(std::int32_t shape, std::int32_t node) { free_[node] += state_.shapes[shape].requests; }
  /// A pod that was not ending is to end.
  void end_pod(std::int32_t node, const Resources& requests);

  void keep_pod(std::int32_t node, const Resources& requests) { ending_[node] -= requests; }

  /// Room that comes free and is kept for the farm that it was freed for.
  void keep(std::int32_t node, const Resources& requests) { kept_[node] += requests; }
  void release(std::int32_t node, const Resources& requests) { kept_[node] -= requests; }
  bool fits_beside_kept(std::int32_t shape, std::int32_t node) const {
    Resources room = room_later(node);
    room -= kept_[node];
    return allows(shape, node) && fits(state_.shapes[shape].requests, room);
  }

  /// Nodes by name.
  const std::vector<std::int32_t>& nodes() const { return nodes_; }
  std::int32_t rank(std::int32_t node) const { return rank_[node]; }

 private:
  const State& state_;
  std::vector<Resources> free_;    // less what is promised, perhaps below zero
  std::vector<Resources> ending_;  // room of pods that end
  std::vector<Resources> kept_;    // of that
  std::vector<std::int32_t> nodes_;
  std::vector<std::int32_t> rank_;

  std::vector<std::size_t> next_now_;       // of each shape: nodes before have no room, and will not have any
  std::vector<std::int32_t> ending_nodes_;  // where pods end; more than once where more was added
  bool ending_nodes_are_sorted_ = false;
  std::pair<std::int32_t, Kept> later_ = {-1, Kept::kUsed};  // what find_later() was asked for last
  std::size_t next_later_ = 0;                               // for that, in ending_nodes_
};

}  // namespace podere::farm
