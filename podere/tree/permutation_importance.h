// What a model loses without the values of a feature.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/algorithm/model.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

using algorithm::PermutationImportance;

/// Collective: one shuffle, prediction and measurement per feature that the model uses and repeat, and the same bits
/// whatever the number of ranks and threads: the value of a row comes from another by a permutation that depends on
/// (seed, repeat, feature) and the number of rows alone. Missing values are shuffled with the others. Reports
/// ProgressStep {"permute", done, total}. Throws InputError, on all ranks, if repeats is not 1 .. 1000, if the table
/// has no rows, no label, a label that the objective does not allow, or, for two classes, one of them only. Source:
/// Breiman, Machine Learning 45 (2001), section 10.
PermutationImportance permutation_importance(const Model& model, const table::Table& table, int repeats,
                                             std::uint64_t seed, const comm::Communicator& comm, int n_threads,
                                             Progress& progress);

}  // namespace podere::tree
