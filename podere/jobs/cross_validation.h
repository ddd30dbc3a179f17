// How good models are on rows that they were not trained on: by folds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/jobs/folds.h"
#include "podere/jobs/job_context.h"
#include "podere/table/table.h"

namespace podere::jobs {

/// What cross-validation writes besides; empty: nothing.
struct FoldFiles {
  std::string done;         ///< folds that are done, from which a run with the same rows and options resumes
  std::string predictions;  ///< as FoldPredictions::write; then nothing is `done`, as predictions are not kept there
};

/// What cross-validation found, the same for any number of ranks and threads.
struct CrossValidation {
  std::vector<Json> of_folds;  ///< "repeat" and "fold" (from 1), "rows" held out, what training reported of its length,
                               ///< and the measures of the rows held out
  std::uint64_t n_values = 0;  ///< different ones of the column that folds follow
  bool was_stopped = false;    ///< before all folds were done

  /// "folds", "repeats", "group" and "groups", how many, or "order", "each" (of_folds) and "measures": of each measure
  /// "mean", "standard_deviation" over all folds (n - 1), and "standard_error", that deviation by the root of the
  /// number of folds of one repeat: repeats see the same rows again. Null for a measure that is not finite in some
  /// fold.
  Json to_json(const Folds& folds) const;
};

/// Trains a model for each fold of each repeat on the rows of all others, and measures it on that fold's own. Rows are
/// dealt to folds by class where labels are classes, as fold_of_rows does; with a group, as folds_of_groups. With an
/// order, fold k is trained on the first k of runs_in_order and measured on the next: that many rows are copied. What
/// is done is kept, and predictions are written, in `files`. Bins are made once, by the values (not the labels) of all
/// rows; with an order, of each fold's. Collective. Throws InputError, on
/// all ranks, as these and Trainer::train, or for a checkpoint of another run.
CrossValidation cross_validate(const Folds& folds, const std::string& algorithm, const algorithm::Trainer& trainer,
                               const FoldTable& rows, const Json& options, const FoldFiles& files,
                               const JobContext& context);

/// The measures of rows of which a model has predicted `predictions` [n_outputs x n_rows], and "rows", how many there
/// are. A measure that is not finite is null. Collective. Throws InputError, on all ranks, as `measure`.
Json measure_rows(const algorithm::Model& model, const table::Table& rows, const std::vector<float>& predictions,
                  const comm::Communicator& comm);

/// The model's measures of the rows that `is_training` [n_rows] does not have, and "rows", how many those are. A
/// measure that is not finite is null. Collective. Throws InputError, on all ranks, as `measure`.
Json measure_held_out(const algorithm::Model& model, const table::Table& table,
                      const std::vector<std::uint8_t>& is_training, const comm::Communicator& comm, int n_threads);

/// The standard deviation (n - 1) of scores of all folds of all repeats, divided by the root of the number of folds:
/// repeats see the same rows again.
double standard_error(const std::vector<double>& scores, int n_folds);

/// Where a job with this checkpoint keeps folds that are done; empty where that is. Those who remove the one remove the
/// other.
inline std::string folds_file(const std::string& checkpoint) { return checkpoint.empty() ? "" : checkpoint + ".folds"; }

}  // namespace podere::jobs
