// Applying a model to a table.
#pragma once

#include <cstddef>
#include <string>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Writes one line of text per row to `output`, which must be there: numbers with commas between. Result: "rows".
struct PredictJob {
  static constexpr const char* kKind = "predict";

  source::SourceSpec table;
  std::string model;   ///< path
  std::string output;  ///< path of an existing, empty file that all executors can write to
  bool margin = false;
  std::size_t rounds = 0;  ///< as for EvaluateJob

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("model", self.model, PathUse::kInput);
    visit("output", self.output, PathUse::kOutput);
    visit("margin", self.margin);
    visit("rounds", self.rounds);
  }
};
Json run(const PredictJob& job, const JobContext& context);

}  // namespace podere::jobs
