// What a farm decision is made from: the farms of a cluster, their pods, and the nodes.
//
// A caller that fills a State must see to it that
// - it shows what was carried out of earlier decisions: created pods are there (with a node or waiting), reclaimed pods
//   are marked, deleted pods are ending or gone. A decision made from less may reclaim twice;
// - a pod is in it once, at the farm that owns it, and pods of no farm are counted in Node::used_by_others;
// - times are seconds of one clock, `now` among them. Nothing here is read from another clock or drawn at random.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace podere::farm {

inline constexpr std::size_t kMostResources = 8;        // a cache line
inline constexpr std::int32_t kHighestPriority = 1000;  // that users can write; the lowest is its negative
inline constexpr std::int32_t kNoCeiling = std::numeric_limits<std::int32_t>::max();

/// Amounts of resources, in the order of State::resources and in its units (cpu: millicores, memory: bytes).
struct Resources {
  std::array<std::int64_t, kMostResources> amounts{};

  bool operator==(const Resources&) const = default;
  Resources& operator+=(const Resources& other) {
    for (std::size_t r = 0; r < kMostResources; ++r) amounts[r] += other.amounts[r];
    return *this;
  }
  Resources& operator-=(const Resources& other) {
    for (std::size_t r = 0; r < kMostResources; ++r) amounts[r] -= other.amounts[r];
    return *this;
  }
};

/// Whether `room` has all that `requests` ask for. What is not asked for does not matter, though it be overdrawn.
inline bool fits(const Resources& requests, const Resources& room) {
  unsigned lacks = 0;  // without a branch, so that all are compared at once
  for (std::size_t r = 0; r < kMostResources; ++r) {
    lacks |=
        static_cast<unsigned>(requests.amounts[r] > room.amounts[r]) & static_cast<unsigned>(requests.amounts[r] != 0);
  }
  return lacks == 0;
}

/// Nodes by their index in State::nodes. Of selectors, affinities, taints and tolerations, which the policy does not
/// read, this is what comes out.
class NodeSet {
 public:
  static NodeSet all() { return {}; }
  static NodeSet none(std::size_t n_nodes) {
    NodeSet set;
    set.words_.resize(n_nodes / 64 + 1);
    return set;
  }
  /// Of a set that was made by none().
  void add(std::size_t node) { words_[node / 64] |= std::uint64_t{1} << (node % 64); }
  bool contains(std::size_t node) const {
    return words_.empty() || (node / 64 < words_.size() && (words_[node / 64] >> (node % 64) & 1) != 0);
  }
  bool is_subset_of(const NodeSet& other) const;
  bool operator==(const NodeSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;  // empty: all nodes
};

/// What a pod needs of a node. Pods that need the same share a shape: decisions take longer the more shapes there are.
struct Shape {
  Resources requests;
  std::int32_t node_set = 0;  ///< where it may run, in State::node_sets
};

/// What is remembered of a farm from one state to the next; see history.h.
struct History {
  double usage = 0;              ///< executor-seconds, less by half after each half-life
  double settled_usage = 0;      ///< `usage` at the begin of the epoch, which decisions use
  double epoch = 0;              ///< its number, since time 0
  std::int32_t shares_owed = 0;  ///< freed for its share, and not used since it last had all it wants
  std::int32_t rooms_owed = 0;   ///< freed for the farm and not used by it since it last had what it is guaranteed
  double last_freed = 0;         ///< when the last of these was
  double short_since = 0;        ///< when it came below what it is guaranteed; 0: it has that
  bool has_started = false;      ///< had all of that at once, and has not been without any executor since
};

struct Farm {
  std::string key;  ///< "namespace/name", unique
  std::int32_t guaranteed = 0;
  std::int32_t wanted = 0;
  std::int32_t maximum = 0;
  double weight = 1;                     ///< of its share of borrowed room, above 0
  std::int32_t priority = 0;             ///< farms of a higher one borrow first, and are reclaimed from last
  bool is_gang = false;                  ///< starts with all that it is guaranteed of what it wants, or not at all
  double min_runtime_seconds = 0;        ///< for which its executors are not reclaimed once they are ready
  double drain_seconds = 0;              ///< from when an executor is reclaimed to when it is deleted
  std::int32_t template_shape = -1;      ///< of the pods that the operator makes for it; -1: others make its pods
  std::int32_t most_made = kNoCeiling;   ///< where no more of its pods are made by now
  std::int32_t most_shown = kNoCeiling;  ///< where fewer can be made than Policy::pending_pods says
  History history;

  bool has_template() const { return template_shape >= 0; }
  /// What it asks for by itself.
  std::int32_t asked() const { return std::min({wanted, maximum, most_made}); }
  /// Executors that start together, also where ceilings leave fewer or fewer are made; 0: each starts by itself.
  std::int32_t gang_size() const { return is_gang && has_template() ? std::min({guaranteed, wanted, maximum}) : 0; }
};

enum class Phase : std::uint8_t {
  kWaiting,   ///< has no node
  kStarting,  ///< has a node and is not ready, or no longer
  kReady,
  kEnding,  ///< deleted, and not yet gone
};

struct Pod {
  std::string uid;  ///< unique
  std::int32_t farm = 0;
  std::int32_t node = -1;  ///< -1: none
  std::int32_t shape = 0;
  Phase phase = Phase::kWaiting;
  bool shows_missing = false;  ///< made as Creation::shows_missing
  bool is_driver = false;      ///< uses room, is no executor, and is never reclaimed
  bool is_outdated = false;    ///< made of a template that its farm has no longer: another is made if it still waits
  double created = 0;
  double ready_since = 0;           ///< if ready
  double checkpointed = 0;          ///< when its work was last saved, by what is known; 0: never
  std::int32_t reclaimed_for = -1;  ///< the farm that is to have its room; -1: none, or its own farm
  bool is_reclaimed = false;        ///< it is to drain
  bool for_guarantee = true;        ///< if reclaimed for a farm: Reclaim::for_guarantee
  double deadline = 0;              ///< by which it is to be gone, if reclaimed or ending
};

struct Node {
  std::string name;  ///< unique
  Resources allocatable;
  Resources used_by_others;    ///< by pods of no farm
  bool is_schedulable = true;  ///< it is ready, and not cordoned
};

/// What some farms may have together, whatever they ask for; see ceilings.h.
struct Ceiling {
  std::string name;  ///< as messages have it: "namespace astro on FarmManager default"
  std::vector<std::int32_t> farms;
  std::int32_t guaranteed = kNoCeiling;  ///< the sum of their guarantees
  std::int32_t maximum = kNoCeiling;     ///< the sum of what they want
};

struct State {
  double now = 0;
  std::vector<std::string> resources;  ///< names, at most kMostResources
  std::vector<NodeSet> node_sets;
  std::vector<Shape> shapes;
  std::vector<Farm> farms;
  std::vector<Pod> pods;
  std::vector<Node> nodes;
  std::vector<Ceiling> ceilings = {};
};

/// Throws InputError for a state that contradicts itself: an index of nothing, a name that is there twice, a number
/// that is negative or not finite, a guarantee above the maximum, a pod that runs without a node.
void check(const State& state);

}  // namespace podere::farm
