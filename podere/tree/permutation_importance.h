// What a model loses when it is told nothing of a feature.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/table.h"
#include "podere/tree/model.h"

namespace podere::tree {

/// How much worse a measure becomes when the values of one feature are shuffled among the rows.
struct PermutationImportance {
  std::string measure;         ///< "auc" (two classes; importance is its fall), or a loss (importance is its rise):
                               ///< "log_loss" (many classes), "root_mean_squared_error",
                               ///< "mean_poisson_deviance", "pinball_loss"
  double baseline = 0;         ///< of the measure, on the rows as they are
  std::vector<double> mean;    ///< over the repeats [n_features of the model]
  std::vector<double> spread;  ///< standard deviation over the repeats, n - 1 in the denominator; NaN for one
                               ///< repeat; 0 for features that the model does not use
};

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
