// How good models are on rows that they were not trained on: by folds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/algorithm/algorithm.h"
#include "podere/jobs/job_context.h"
#include "podere/table/table.h"

namespace podere::jobs {

inline constexpr int kMostRepeats = 1000;

/// The part of a training job about folds.
struct Folds {
  int n = 0;               ///< of a repeat; 0: no cross-validation
  int repeats = 1;         ///< each with folds of its own
  std::uint64_t seed = 0;  ///< which rows are held out together

  static void visit_fields(auto& self, auto&& visit) {
    visit("n", self.n);
    visit("repeats", self.repeats);
    visit("seed", self.seed);
  }
};

/// What cross-validation found, the same for any number of ranks and threads.
struct CrossValidation {
  std::vector<Json> of_folds;  ///< "repeat" and "fold" (from 1), "rows" held out, what training reported of its length,
                               ///< and the measures of the rows held out
  bool was_stopped = false;    ///< before all folds were done

  /// "folds", "repeats", "each" (of_folds) and "measures": of each measure "mean", "standard_deviation" over all folds
  /// (n - 1), and "standard_error", that deviation by the root of the number of folds of one repeat: repeats see the
  /// same rows again. Null for a measure that is not finite in some fold.
  Json to_json(const Folds& folds) const;
};

/// Trains a model for each fold of each repeat on the rows of all others, and measures it on that fold's own. Rows are
/// dealt to folds by class where labels are classes. What is done is kept in `file` (empty: nowhere), from which a
/// run with the same rows and options resumes. Bins are made once, by the values (not the labels) of all rows.
/// Collective. Throws InputError, on all ranks, as fold_of_rows and Trainer::train, or for a checkpoint of another run.
CrossValidation cross_validate(const Folds& folds, const std::string& algorithm, const algorithm::Trainer& trainer,
                               const table::Table& table, const Json& options, const std::string& file,
                               const JobContext& context);

/// The model's measures of the rows that `is_training` [n_rows] does not have, and "rows", how many those are. A
/// measure that is not finite is null. Collective. Throws InputError, on all ranks, as `measure`.
Json measure_held_out(const algorithm::Model& model, const table::Table& table,
                      const std::vector<std::uint8_t>& is_training, const JobContext& context);

/// Where a job with this checkpoint keeps folds that are done; empty where that is. Those who remove the one remove the
/// other.
inline std::string folds_file(const std::string& checkpoint) { return checkpoint.empty() ? "" : checkpoint + ".folds"; }

}  // namespace podere::jobs
