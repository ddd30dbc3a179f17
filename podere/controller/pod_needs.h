// What pods need of a node.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "podere/controller/node_match.h"
#include "podere/controller/quantity.h"

namespace podere::controller {

struct PodNeeds {
  Amounts requests;  ///< "pods": 1 among them
  NodeRules rules;

  bool operator==(const PodNeeds&) const = default;
};

/// What the scheduler counts for a pod: its containers together, or what its init containers need at a time if that is
/// more, sidecars with both; and overhead. Limits count as requests that are not there. Source:
/// k8s.io/component-helpers, resource.PodRequests. Throws Error for what is no quantity.
Amounts requests_of(const Json& pod_spec);

/// The most that its containers may use, summed likewise; those without a limit count as none. Source: the same,
/// resource.PodLimits. Throws Error for what is no quantity.
Amounts pod_limits_of(const Json& pod_spec);

PodNeeds pod_needs_of(const Json& pod_spec);

/// Gives equal needs one place in memory: thousands of pods have some few. Thread-safe.
class NeedsTable {
 public:
  std::shared_ptr<const PodNeeds> share(PodNeeds needs);

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::shared_ptr<const PodNeeds>> all_;  // by a hash of the requests
  std::size_t forget_at_ = 64;                                                 // how many, unused ones among them
};

}  // namespace podere::controller
