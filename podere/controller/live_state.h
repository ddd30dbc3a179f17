// A cluster as it is now, for questions that change nothing.
#pragma once

#include <string>
#include <vector>

#include "podere/farm/policy.h"
#include "podere/farm/state.h"
#include "podere/kube/client.h"

namespace podere::controller {

/// What the operator decides from when it looks at the manager of one farm.
struct LiveState {
  farm::State state = {};                 ///< of all farms of the manager; check() accepts it
  farm::Policy policy = {};               ///< of the manager
  std::string manager = {};               ///< its name; empty: no manager selects the farm
  std::vector<std::string> remarks = {};  ///< what is in the way of the farm, whatever is decided
};

/// Lists farms, managers, pods and nodes once, and writes nothing. The operator knows more in one respect: refusals of
/// the API server are taken from the farms' statuses. Throws InputError if there is no such farm, or it is being
/// deleted, and as check_reader().
LiveState read_live_state(kube::Client& client, const kube::ObjectKey& farm);

}  // namespace podere::controller
