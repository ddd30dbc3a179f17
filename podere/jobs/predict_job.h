// Applying a model to a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "podere/base/enum_names.h"
#include "podere/jobs/job.h"

namespace podere::jobs {

enum class Prediction {
  kProbability,  ///< of class 1, or of each class or cluster; a number where numbers were learned
  kClass,        ///< the most likely class or cluster, by its name or number
  kBoth,         ///< the class first
};

constexpr EnumNames<3> names_of(Prediction /*enumeration*/) { return {"as", {"probability", "class", "both"}}; }

/// Writes one line of text per row to `output`, which must be there: fields with commas between. Result: "rows", and of
/// a model of classes "classes" and "is_of_each_class": whether there is a number for each, else for the last alone.
struct PredictJob {
  static constexpr const char* kKind = "predict";

  source::SourceSpec table;
  std::string model;   ///< path
  std::string output;  ///< path of an existing, empty file that all executors can write to
  bool margin = false;
  std::optional<Prediction> as = {};  ///< unset: the number of the cluster where the model has any, else kProbability
  std::size_t rounds = 0;             ///< as for EvaluateJob

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("model", self.model, PathUse::kInput);
    visit("output", self.output, PathUse::kOutput);
    visit("margin", self.margin);
    visit("as", self.as);
    visit("rounds", self.rounds);
  }
};
Json run(const PredictJob& job, const JobContext& context);

}  // namespace podere::jobs
