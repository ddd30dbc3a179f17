// What would happen if a farm asked for another number of executors.
#pragma once

#include <string>
#include <string_view>

#include "podere/farm/policy.h"

namespace podere::farm {

struct WhatIf {
  Outlook before;
  Outlook after;
  std::string sentence;                            ///< of the farm, with the new number
  std::vector<std::string> waits;                  ///< its parts
  std::int32_t released = 0;                       ///< executors of the farm that would drain, as it would want fewer
  std::vector<FarmExecutors> reclaimed_from = {};  ///< by key
};

/// Changes nothing. Throws InputError for a farm that is not there, or a number that it may not ask for.
WhatIf what_if(const State& state, const Policy& policy, std::string_view farm_key, std::int32_t executors);

}  // namespace podere::farm
