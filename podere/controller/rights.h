// Whether a user may do what is to be done, checked before it begins.
#pragma once

#include <string>
#include <vector>

#include "podere/kube/client.h"

namespace podere::controller {

/// Where the operator writes.
struct OperatorPlaces {
  kube::ObjectKey lease = {};
  std::vector<std::string> namespaces = {};  ///< of farms; empty: all
};

/// Of the operator. Throws InputError, in words for the user, if the cluster does not know farms, or if a right is
/// missing: all that are missing, on one line.
void check_operator(kube::Client& client, const OperatorPlaces& places);

/// Whether it may see quotas. They are optional: without them it is unknown beforehand which have room for some pods
/// only.
bool may_watch_quotas(kube::Client& client);

}  // namespace podere::controller
