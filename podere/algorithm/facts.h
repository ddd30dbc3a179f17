// Facts that runs of all algorithms have.
#pragma once

#include "podere/base/json.h"
#include "podere/comm/communicator.h"

namespace podere::algorithm {

/// By kind of collective: calls, and bytes and seconds of the executor that had most. Collective.
Json communication_facts(const comm::TrafficByKind& traffic, const comm::Communicator& comm);

}  // namespace podere::algorithm
