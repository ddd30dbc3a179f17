// Training a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "podere/jobs/cross_validation.h"
#include "podere/jobs/job.h"

namespace podere::jobs {

/// Result: "model" (the model file's content) and "facts".
struct TrainJob {
  static constexpr const char* kKind = "train";

  source::SourceSpec table;
  std::optional<source::SourceSpec> validation;
  std::string algorithm = "trees";  ///< as catalog::algorithm_called knows it
  Json options = Json::object();    ///< of the algorithm; those that are absent have their defaults
  Folds folds;                      ///< fact "cross_validation", measured before the model is trained on all rows
  std::string fold_predictions;     ///< path of an existing, empty file that all executors can write to, see
                                    ///< FoldPredictions::write; empty: none
  std::string from;                 ///< path of a model that is to be continued; empty: none
  bool low_memory = false;        ///< the features of `table` are not held: it is read, or made, three times; not with
                                  ///< `from`, and not for all algorithms
  std::string checkpoint;         ///< file of rank 0, from which training resumes if it is there; empty: none
  double checkpoint_seconds = 2;  ///< least time between two of them
  std::string tensorboard;        ///< folder into which rank 0 writes what TensorBoard shows of the run; empty: none
  std::size_t summary_steps = 0;  ///< steps, or rounds of trees, between two summaries there; 0: a twentieth of an
                                  ///< epoch, a round
  bool report = false;  ///< fact "report": "curve", and what report_facts.h has of the model and the rows, which then
                        ///< stay in memory until the end; not with `low_memory`

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("validation", self.validation);
    visit("algorithm", self.algorithm);
    visit("options", self.options);
    visit("folds", self.folds);
    visit("fold_predictions", self.fold_predictions, PathUse::kOutput);
    visit("from", self.from, PathUse::kInput);
    visit("low_memory", self.low_memory);
    visit("checkpoint", self.checkpoint, PathUse::kCheckpoint);
    visit("checkpoint_seconds", self.checkpoint_seconds);
    visit("tensorboard", self.tensorboard, PathUse::kFolder);
    visit("summary_steps", self.summary_steps);
    visit("report", self.report);
  }
};
Json run(const TrainJob& job, const JobContext& context);

}  // namespace podere::jobs
