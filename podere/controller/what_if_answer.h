// What would happen if a farm wanted another number of executors, for people and for machines.
#pragma once

#include <string>

#include "podere/base/json.h"
#include "podere/controller/live_state.h"

namespace podere::controller {

struct WhatIfAnswer {
  Json json;
  std::string text;  ///< lines
};

/// Throws InputError for a farm that is not there, or a number that it may not ask for. `farm`: its key in the state.
WhatIfAnswer answer_what_if(const LiveState& live, const farm::Policy& policy, const std::string& farm, int executors);

}  // namespace podere::controller
