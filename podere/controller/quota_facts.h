// What is kept of a ResourceQuota, and what a pod counts as in one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podere/controller/cluster_state.h"
#include "podere/controller/quantity.h"

namespace podere::controller {

struct QuotaFacts {
  std::vector<std::string> scopes = {};  ///< of spec and selector; of "PriorityClass" and the like with an operator
  Amounts hard = {};                     ///< by key, such as "pods" and "requests.cpu", as the API server counts by now
  Amounts used = {};

  bool operator==(const QuotaFacts&) const = default;
};

/// Keys that do not count pods, or that the API server has not counted yet, are left out. Throws Error for what is no
/// quantity.
QuotaFacts quota_facts_of(const Json& quota);

/// What one more pod adds, by keys of quotas: as far as the template says. What defaults of the namespace (LimitRange)
/// add is unknown before the API server is asked.
struct QuotaCharge {
  Amounts amounts = {};
  bool has_deadline = false;   ///< activeDeadlineSeconds
  bool is_best_effort = true;  ///< asks for no cpu and no memory
};
QuotaCharge quota_charge_of(const Json& pod_spec);

/// Whether pods of that kind certainly count in the quota.
bool applies(const QuotaFacts& quota, const QuotaCharge& charge);

/// The quotas of a namespace, less the pods that are to be made.
class QuotaRoom {
 public:
  explicit QuotaRoom(const Objects<QuotaFacts>& quotas);

  /// Counts one more pod if all quotas admit it. Else why not, in the API server's words: "exceeded quota: small:
  /// requested: pods=1, used: pods=2, limited: pods=2".
  std::string admit(const QuotaCharge& charge);

 private:
  std::vector<std::pair<std::string, QuotaFacts>> quotas_;  // by name
};

}  // namespace podere::controller
