// One pass over the farms of a manager: from what there is to what is written.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "podere/controller/creation_back_off.h"
#include "podere/controller/farm_keys.h"
#include "podere/controller/histories.h"
#include "podere/controller/pass.h"
#include "podere/controller/quotas.h"
#include "podere/controller/reporter.h"
#include "podere/kube/store.h"

namespace podere::controller {

/// What there is, as reflectors keep it up to date.
struct Stores {
  /// `on_change` is called when anything has changed that decisions depend on. `namespaces`: whose farms are looked
  /// after; empty: all. Pods of others use room.
  Stores(NeedsTable& needs, const std::function<void()>& on_change, std::vector<std::string> namespaces = {});

  bool is_looked_after(const std::string& in_namespace) const;
  /// Of the farms that are looked after.
  Objects<FarmObject> own_farms() const;

  kube::Store<PodFacts> pods;
  kube::Store<NodeFacts> nodes;
  kube::Store<FarmObject> farms;
  kube::Store<ManagerObject> managers;
  kube::Store<QuotaFacts> quotas;  ///< empty if the operator may not see them

 private:
  const std::vector<std::string> namespaces_;
};

/// Not thread-safe: one pass at a time.
class Reconciler {
 public:
  /// All must live longer.
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

  /// Looks at the farms of a manager, or of none (kNoManager), and does what is to be done. Seconds until time alone
  /// may change anything. Throws Error for what is to be tried again, Interrupted if this process may write no longer.
  double reconcile(const kube::ObjectKey& manager);

  /// Keys to be looked at when anything changes. Thread-safe.
  std::vector<kube::ObjectKey> keys() const;

 private:
  void settle_doubts(double now);
  ClusterView look();
  void decide(Pass& pass);
  void heed_quotas(Pass& pass);
  Objects<QuotaFacts> read_quotas(const std::string& in_namespace);
  static void decide_without_refused(Pass& pass);
  void log_deeds(const Pass& pass) const;
  void plan_next_look(Pass& pass) const;

  const Parts parts_;
  PendingWrites pending_;
  Actions actions_;
  CreationBackOff back_off_;
  FarmKeys keys_;
  StatusWriter statuses_;
  Reporter reporter_;
  std::map<kube::ObjectKey, Histories> histories_;  // by manager
};

}  // namespace podere::controller
