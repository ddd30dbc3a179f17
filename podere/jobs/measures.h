// How good predictions are, by what a model is for.
#pragma once

#include <cstddef>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job.h"
#include "podere/table/table.h"

namespace podere::jobs {

/// Measures of `predictions` [n_outputs x n_rows] of `model` that fit its objective, that which training minimized
/// first. `roc_points` (0: none) are for two classes. Collective. Throws InputError, on all ranks, for labels of which
/// there are no measures.
Json measure(const comm::Communicator& comm, const algorithm::Model& model, const std::vector<float>& predictions,
             const table::Table& table, std::size_t roc_points);

}  // namespace podere::jobs
