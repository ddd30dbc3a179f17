// A cluster as it is now, for questions that change nothing.
#pragma once

#include <string>
#include <vector>

#include "podere/controller/reconciler.h"
#include "podere/farm/policy.h"
#include "podere/farm/state.h"

namespace podere::controller {

/// What the operator decides from when it looks at the manager of one farm.
struct LiveState {
  farm::State state = {};                 ///< of all farms of the manager; check() accepts it
  farm::Policy policy = {};               ///< of the manager
  std::string manager = {};               ///< its name; empty: no manager selects the farm
  std::vector<std::string> remarks = {};  ///< what is in the way of the farm, whatever is decided
};

/// From what reflectors have. Refusals of the API server are read from the farms' statuses. Throws InputError if there
/// is no such farm, or it is being deleted.
LiveState live_state(const Stores& stores, const kube::ObjectKey& farm);

}  // namespace podere::controller
