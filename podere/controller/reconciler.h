// One pass over the farms of a manager: from what there is to what is written.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "podere/controller/actions.h"
#include "podere/controller/farm_status.h"
#include "podere/controller/histories.h"
#include "podere/kube/store.h"

namespace podere::controller {

/// What there is, as reflectors keep it up to date.
struct Stores {
  explicit Stores(NeedsTable& needs, const std::function<void()>& on_change);

  kube::Store<PodFacts> pods;
  kube::Store<NodeFacts> nodes;
  kube::Store<FarmObject> farms;
  kube::Store<ManagerObject> managers;
};

/// Which manager manages each farm: the first by name that selects it.
struct Assignment {
  std::vector<std::string> manager;              ///< of each farm; empty: none
  std::vector<std::vector<std::string>> others;  ///< that select it too
};
Assignment assign(const Objects<FarmObject>& farms, const Objects<ManagerObject>& managers);

/// The key of the farms of no manager.
inline const kube::ObjectKey kNoManager{};

/// Not thread-safe: one pass at a time.
class Reconciler {
 public:
  struct Parts {
    kube::Client& client;
    Stores& stores;
    NeedsTable& needs;
    Writer& writer;
    kube::EventRecorder& events;
    Metrics& metrics;
    std::function<void(const std::string&)> log;
  };
  Reconciler(Parts parts, const ActionOptions& actions);

  /// Looks at the farms of a manager, or of none, and does what is to be done. Seconds until time alone may change
  /// anything. Throws Error for what is to be tried again, Interrupted if this process may write no longer.
  double reconcile(const kube::ObjectKey& manager);

  /// Keys to be looked at when anything changes.
  std::vector<kube::ObjectKey> keys() const;

 private:
  /// What is remembered of a farm between passes, by its UID.
  struct Memory {
    std::string refusal = {};  ///< why no pods of it are made
    std::int64_t refused_generation = 0;
    double retry_at = 0;
    int n_refusals = 0;
    double below_since = 0;    ///< its guarantee; 0: it is not
    bool had_to_wait = false;  ///< for more than a start, while it was
    Json written = {};         ///< its status; null: none
    double written_at = 0;
    std::string told = {};  ///< fault of which there is an event
  };
  struct Pass;

  void settle_doubts(double now);
  ClusterView look();
  Memory& memory_of(const std::string& uid) { return memories_[uid]; }
  void forget_gone(const ClusterView& view);
  void find_crash_loops(Pass& pass);
  void block_refused(Pass& pass);
  void log_deeds(const Pass& pass) const;
  void note_refusals(Pass& pass);
  void tell(Pass& pass);
  void tell_farm(Pass& pass, std::int32_t farm, const std::string& sentence);
  void note_guarantee(const Pass& pass, std::int32_t farm, const Condition& condition);
  void tell_manager(Pass& pass);
  void plan_next_look(Pass& pass);

  Parts parts_;
  PendingWrites pending_;
  Actions actions_;
  std::map<kube::ObjectKey, Histories> histories_;  // by manager
  std::map<std::string, Memory> memories_;
  std::map<std::string, std::pair<Json, double>> manager_statuses_;  // by UID: what was written, and when
};

}  // namespace podere::controller
