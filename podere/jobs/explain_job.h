// What a model thinks of its features.
#pragma once

#include <cstdint>
#include <string>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// SHAP values, and permutation importance if asked for. Result: "rows", "objective", "bias" (one per output),
/// "features" by name with their mean absolute value, "measure" and "baseline" of permutation. With an output, which
/// must be there, a table of comma-separated values goes to it: a line of names, then a line per row.
struct ExplainJob {
  static constexpr const char* kKind = "explain";

  source::SourceSpec table;
  std::string model;            ///< path
  std::string output;           ///< as of PredictJob; empty: nothing is written
  int permutation_repeats = 0;  ///< 0: no permutation importance; else the table needs a label
  std::uint64_t seed = 0;       ///< of the permutations
  bool report = false;          ///< member "report" of the result: "model", as report_facts.h has it, "shap_points"

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("model", self.model, PathUse::kInput);
    visit("output", self.output, PathUse::kOutput);
    visit("permutation_repeats", self.permutation_repeats);
    visit("seed", self.seed);
    visit("report", self.report);
  }
};
Json run(const ExplainJob& job, const JobContext& context);

}  // namespace podere::jobs
