// Training of a network.
#pragma once

#include "podere/session/train_job.h"

namespace podere::session {

Json train_network(const TrainJob& job, const JobContext& context);

}  // namespace podere::session
