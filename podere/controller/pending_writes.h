// What this process has written and not seen yet.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "podere/controller/cluster_state.h"

namespace podere::controller {

/// Between a write and the moment when a watch shows it, decisions are made from stores that do not have it. Here it is
/// laid over them, so that no pod is made or reclaimed twice. Times are seconds of one clock. Thread-safe.
class PendingWrites {
 public:
  using Pod = std::shared_ptr<const PodFacts>;

  /// As the server answered.
  void created(const kube::ObjectKey& key, Pod pod, double now);
  void reclaimed(const kube::ObjectKey& key, const std::string& uid, const Reclaimed& reclaimed, double now);
  /// Deletion has begun, and ends by `ends_at`; a pod without a node is gone at once.
  void deleted(const kube::ObjectKey& key, const std::string& uid, double ends_at, double now);
  /// The answer to its creation was lost: it may be there.
  void perhaps_created(const kube::ObjectKey& key, double now);

  /// The answer to another write was lost: it may have been done.
  void perhaps_written(const kube::ObjectKey& key, const std::string& uid, double now);

  /// What is pending, laid over what the store has. Forgets what the store shows by now.
  Objects<PodFacts> overlay(Objects<PodFacts> seen);

  /// Pods of which nothing was seen for `patience_seconds`, and those for which the outcome of a write is unknown: the
  /// server has to be asked.
  std::vector<kube::ObjectKey> in_doubt(double now, double patience_seconds) const;
  /// What the server answered: the pod; null, there is none.
  void settle(const kube::ObjectKey& key, const Pod& pod, double now);

  std::size_t size() const;

 private:
  struct Write {
    std::string uid;  // empty: a pod that may be there
    Pod created = {};
    std::optional<Reclaimed> reclaimed = {};
    bool is_deleted = false;
    bool is_doubtful = false;
    double ends_at = 0;
    double since = 0;
  };
  static bool is_seen(const Write& write, const Pod& seen);
  static Pod with(const Write& write, const Pod& seen);
  Write& write_of(const kube::ObjectKey& key, const std::string& uid, double now);

  mutable std::mutex mutex_;
  std::map<kube::ObjectKey, Write> writes_;
};

}  // namespace podere::controller
