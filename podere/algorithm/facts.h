// Facts that runs of all algorithms have.
#pragma once

#include <string>
#include <vector>

#include "podere/base/json.h"
#include "podere/comm/communicator.h"

namespace podere::algorithm {

/// By kind of collective: calls, and bytes and seconds of the executor that had most. Collective.
Json communication_facts(const comm::TrafficByKind& traffic, const comm::Communicator& comm);

/// Of an algorithm that has an option `patience` to stop early (0: never) and an option `length`: without the former,
/// and as long as the mean of the fact `length_fact`. Options that do not stop early stay as they are.
Json trained_as_long(Json options, const std::string& patience, const std::string& length,
                     const std::vector<Json>& facts, const std::string& length_fact);

}  // namespace podere::algorithm
