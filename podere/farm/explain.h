// What a decision means, in words for users who wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/farm/policy.h"

namespace podere::farm {

/// Of each farm: how it stands, whom it waits for, and what happens next. Such as "7 of 10 executors running. 3
/// guaranteed pending: reclaiming from hep/astro (2) and hep/cms (1), done within 60 s".
std::vector<std::string> sentences(const State& state, const Decision& decision);

/// What a farm's executors wait for, cause by cause: "3 pending: room is free, starting".
std::vector<std::string> waits(const State& state, const Decision& decision, std::int32_t farm);

/// What of a farm's numbers does not count, and why: "minExecutors 9 counts as 2: the ceiling of ...".
std::vector<std::string> cuts(const State& state, const Decision& decision, std::int32_t farm);

/// Why an executor is reclaimed, for the user who loses it.
std::string reason(const State& state, const Decision& decision, const Reclaim& reclaim);

}  // namespace podere::farm
