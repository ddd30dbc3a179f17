// Carrying a decision out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "podere/controller/cluster_state.h"
#include "podere/controller/metrics.h"
#include "podere/controller/pending_writes.h"
#include "podere/controller/writer.h"
#include "podere/farm/policy.h"
#include "podere/kube/event_recorder.h"

namespace podere::controller {

struct ActionOptions {
  std::string guaranteed_priority_class = {};  ///< of executors that are guaranteed; empty: none
  int concurrency = 16;                        ///< writes at a time
};

/// What a decision is about.
struct Decided {
  const ClusterView& view;
  const ClusterState& cluster;
  const farm::Decision& decision;
  const std::set<std::string>& refused_before;  ///< UIDs of farms of which the server would not make pods of late

  const kube::ObjectKey& farm_key(std::int32_t farm) const { return farm_entry(farm).first; }
  const FarmObject& farm(std::int32_t farm) const { return *farm_entry(farm).second; }
  const kube::ObjectKey& pod_key(std::int32_t pod) const {
    return view.pods[static_cast<std::size_t>(cluster.pods[static_cast<std::size_t>(pod)])].first;
  }
  double most_drain_seconds(std::int32_t farm) const {
    return cluster.limited.drain_seconds[static_cast<std::size_t>(farm)];
  }
  const farm::Pod& pod(std::int32_t pod) const { return cluster.state.pods[static_cast<std::size_t>(pod)]; }

 private:
  const Objects<FarmObject>::value_type& farm_entry(std::int32_t farm) const {
    return view.farms[static_cast<std::size_t>(cluster.farms[static_cast<std::size_t>(farm)])];
  }
};

struct ActionResult {
  std::map<std::int32_t, std::string> refusals = {};  ///< why the API server makes no pods of a farm
  std::set<std::int32_t> unshown = {};                ///< farms of which it makes no pods that show what is missing
  std::vector<std::string> failures = {};             ///< what is to be tried again
  std::size_t n_written = 0;
};

/// Creates first, and last of these, if the server refuses none, what only shows that guarantees are cut: a farm whose
/// pods are refused reclaims nothing. Executors for which room is being freed are made when it is free, else the
/// scheduler tries them in vain, ever later, and binds others to the room meanwhile; a dry run only asks, once a farm,
/// whether they can be made, except of farms that were refused of late. Then reclaims: annotations say for which farm a
/// pod is reclaimed, so that it is known whatever happens to this process, then the pod is deleted with the time to
/// drain as its grace: the kubelet sends SIGTERM at once, and SIGKILL at the deadline. The next pass deletes pods that
/// carry annotations and were not deleted, whichever process reclaimed them.
class Actions {
 public:
  Actions(Writer& writer, PendingWrites& pending, NeedsTable& needs, kube::EventRecorder& events, Metrics& metrics,
          ActionOptions options)
      : writer_(writer),
        pending_(pending),
        needs_(needs),
        events_(events),
        metrics_(metrics),
        options_(std::move(options)) {}

  /// Throws Interrupted if this process may write no longer. What fails otherwise is in the result.
  ActionResult carry_out(const Decided& decided);

 private:
  struct Creation {
    std::int32_t farm;
    Json pod;
    bool is_check;  ///< not to be made yet
    bool is_shown;  ///< Creation::shows_missing
  };
  struct Ending {
    std::int32_t pod;
    double deadline;
    bool is_removal = false;
  };
  class Tally;

  void create(const Decided& decided, Tally& tally);
  void create_one(const Creation& creation, Tally& tally);
  void check_one(const Creation& creation, Tally& tally);
  void reclaim(const Decided& decided, Tally& tally);
  /// False if the pod has gone.
  bool reclaim_one(const Decided& decided, const farm::Reclaim& reclaim, const std::string& reason);
  void report_reclaims(const Decided& decided, const std::vector<farm::Reclaim>& reclaims);
  std::vector<Ending> endings(const Decided& decided) const;
  void end(const Decided& decided, const Ending& ending, Tally& tally);
  void doubt(const Decided& decided, std::int32_t pod);

  Writer& writer_;
  PendingWrites& pending_;
  NeedsTable& needs_;
  kube::EventRecorder& events_;
  Metrics& metrics_;
  const ActionOptions options_;
};

}  // namespace podere::controller
