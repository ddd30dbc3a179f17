// What a decision means, in words for those who wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/farm/policy.h"

namespace podere::farm {

/// Of each farm one sentence: how it stands, whom it waits for, and what happens next. Such as
/// "7 of 10 executors: 3 of those guaranteed are taken from hep/astro (2) and hep/cms (1), which end within 60 s".
std::vector<std::string> sentences(const State& state, const Decision& decision);

/// The parts of a farm's sentence, by what its executors wait for: "3 have room and start".
std::vector<std::string> waits(const State& state, const Decision& decision, std::int32_t farm);

/// Why an executor is taken, for whoever loses it.
std::string reason(const State& state, const Decision& decision, const Reclaim& reclaim);

}  // namespace podere::farm
