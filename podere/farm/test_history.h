// A model of a cluster that lives through what happens to clusters: a scheduler that takes its time, executors that
// drain as long as they like, pods that die, nodes that go and come back, farms that come, change and go, an operator
// whose decisions are partly lost or carried out twice.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/hash.h"
#include "podere/farm/policy.h"
#include "podere/farm/state.h"

namespace podere::farm {

/// Something that happens. What `a` and `b` mean depends on what it is and on the cluster.
struct Happening {
  std::uint8_t what;
  std::uint16_t a;
  std::uint16_t b;
};

struct HistoryOptions {
  Mode mode = Mode::kProportional;
  bool is_uniform = true;          ///< executors all alike, which may run on every node
  bool has_adopted_farms = false;  ///< whose pods others make, which then use room as they can
  bool has_least_runtime = false;
  bool has_priorities = false;
  int pending_pods = 0;
  bool has_ceilings = false;  ///< farms are of two namespaces, and one of them has a ceiling
  bool has_gangs = false;     ///< half of the farms
  bool loses_decisions = true;
  std::uint64_t seed = 1;
};

class ModelCluster {
 public:
  explicit ModelCluster(const HistoryOptions& options);

  /// Something happens, some seconds pass, and a decision is made; `judge` sees it before it is carried out.
  using Judge = std::function<void(const State&, const Decision&)>;
  void live(const Happening& happening, const Judge& judge);
  /// Nothing happens for long.
  void rest(const Judge& judge);

  const State& state() const { return state_; }
  const Policy& policy() const { return policy_; }
  /// (from, for) of all reclaims since the last change.
  const std::set<std::pair<std::string, std::string>>& reclaimed_pairs() const { return reclaimed_pairs_; }

 private:
  double uniform() { return random_.uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  void happen(const Happening& happening);
  void add_farm(const Happening& happening);
  void set_ceilings();
  void pass(double seconds);
  void end_pods();
  void schedule();
  void drive_adopted_farms();
  void forget_deleted_farms();
  void decide(const Judge& judge, bool is_reliable);
  void carry_out(const Decision& decision, double probability);
  void add_pod(std::int32_t farm, std::int32_t shape);
  void remove_pods(const std::function<bool(const Pod&)>& go);
  bool has_room(std::int32_t node, std::int32_t shape) const;

  HistoryOptions options_;
  Policy policy_;
  RandomSequence random_;
  State state_;
  std::set<std::string> deleted_farms_;
  std::set<std::pair<std::string, std::string>> reclaimed_pairs_;
  int n_names_ = 0;
};

}  // namespace podere::farm
