// Measuring a model on a table.
#pragma once

#include <cstddef>
#include <string>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Result: "rows" and the measures that fit the model's objective.
struct EvaluateJob {
  static constexpr const char* kKind = "evaluate";

  source::SourceSpec table;
  std::string model;           ///< path
  std::size_t roc_points = 0;  ///< at most so many points of the ROC curve are returned
  std::size_t rounds = 0;      ///< of the model that count, the first ones; 0: all
  std::size_t staged = 0;      ///< "stages": measures after every so many rounds and the last; 0: none
  bool report = false;         ///< "report": what report_facts.h has of the model and these rows

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("model", self.model, PathUse::kInput);
    visit("roc_points", self.roc_points);
    visit("rounds", self.rounds);
    visit("staged", self.staged);
    visit("report", self.report);
  }
};
Json run(const EvaluateJob& job, const JobContext& context);

}  // namespace podere::jobs
