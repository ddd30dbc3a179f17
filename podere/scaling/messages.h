// What messages between executors take.
#pragma once

#include <vector>

#include "podere/scaling/study.h"

namespace podere::scaling {

/// Seconds that the collectives of a run take on `n_executors`, by what was counted on `n_counted` >= 2 of them: steps
/// × latency + bytes / bandwidth. Steps and bytes of a collective are those that comm/communicator.h states; short ones
/// go by doubling, as in Open MPI 4.1. Waiting for executors that are late is no part of it. 0 for one executor.
double message_seconds(const std::vector<Collectives>& collectives, int n_counted, int n_executors,
                       const Network& network);

}  // namespace podere::scaling
