// What executors can be asked to do, as values and as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "podere/session/source.h"
#include "podere/tree/options.h"

namespace podere::session {

using Json = nlohmann::ordered_json;

/// Result: "model" (the model file's content) and "facts".
struct TrainJob {
  SourceSpec table;
  std::optional<SourceSpec> validation;
  tree::Options options;
};

/// Result: "rows" and the measures that fit the model's objective.
struct EvaluateJob {
  SourceSpec table;
  std::string model;           ///< path
  std::size_t roc_points = 0;  ///< at most so many points of the ROC curve are returned
};

/// Writes one line of text per row to `output`, which must be there: numbers with commas between. Result: "rows".
struct PredictJob {
  SourceSpec table;
  std::string model;   ///< path
  std::string output;  ///< path of an existing, empty file that all executors can write to
  bool margin = false;
};

/// Result: "rows" and "columns".
struct DescribeJob {
  SourceSpec table;
};

using Job = std::variant<TrainJob, EvaluateJob, PredictJob, DescribeJob>;

/// {"kind": "train", ...}; what has its default is left out.
Json to_json(const Job& job);

/// Inverse of to_json. Throws InputError that names what is unknown, missing or of the wrong type.
Job job_from_json(const Json& json);

}  // namespace podere::session
