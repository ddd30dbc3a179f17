// What executors can be asked to do, as values and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "podere/neural/options.h"
#include "podere/session/source.h"
#include "podere/table/standardise.h"
#include "podere/tree/options.h"

namespace podere::session {

using Json = nlohmann::ordered_json;

/// On one line. Bytes that are not UTF-8, of which file names may have any, are replaced.
std::string to_text(const Json& json);

/// A number of a result; NaN for null, as which JSON has what is not finite.
double real(const Json& json);

// Wherever a job has a table, it may be a kept one: location "table:NAME" and nothing else.

/// Result: "model" (the model file's content) and "facts".
struct TrainJob {
  SourceSpec table;
  std::optional<SourceSpec> validation;
  tree::Options options;                   ///< of boosted trees
  std::optional<neural::Options> network;  ///< a network instead
  std::string from;                        ///< path of a model that is to be continued; empty: none
  bool low_memory = false;  ///< the features of `table` are not held: it is read, or made, three times; not with
                            ///< `from`, not for a network
  std::string checkpoint;   ///< path where rank 0 keeps the model so far, and goes on from if it is there; empty: none
  double checkpoint_seconds = 2;     ///< least time between two of them
  std::size_t checkpoint_steps = 0;  ///< of a network: keeps one after every so many steps as well; 0: does not
  std::string tensorboard;           ///< folder into which rank 0 writes what TensorBoard shows of the run; empty: none
  std::size_t summary_steps = 0;     ///< steps, or rounds of trees, between two summaries there; 0: a twentieth of an
                                     ///< epoch, a round
  std::size_t max_steps = 0;         ///< of a network: ends after so many steps, and keeps a checkpoint; 0: does not
};

/// Result: "rows" and the measures that fit the model's objective.
struct EvaluateJob {
  SourceSpec table;
  std::string model;           ///< path
  std::size_t roc_points = 0;  ///< at most so many points of the ROC curve are returned
  std::size_t rounds = 0;      ///< of the model that count, the first ones; 0: all
  std::size_t staged = 0;      ///< "stages": measures after every so many rounds and the last; 0: none
};

/// Writes one line of text per row to `output`, which must be there: numbers with commas between. Result: "rows".
struct PredictJob {
  SourceSpec table;
  std::string model;   ///< path
  std::string output;  ///< path of an existing, empty file that all executors can write to
  bool margin = false;
  std::size_t rounds = 0;  ///< as for EvaluateJob
};

/// Result: "rows" and "columns", with "texts" where there are any among the numbers; or, if that is asked for,
/// "label_values" alone: all different ones, rising, or null if there are more or NaN among them.
struct DescribeJob {
  SourceSpec table;
  std::size_t label_values = 0;  ///< the most that are told; 0: none
};

/// SHAP values, and permutation importance if asked for. Result: "rows", "objective", "bias" (one per output),
/// "features" by name with their mean absolute value, "measure" and "baseline" of permutation. With an output, which
/// must be there, a table of comma-separated values goes to it: a line of names, then a line per row.
struct ExplainJob {
  SourceSpec table;
  std::string model;            ///< path
  std::string output;           ///< as of PredictJob; empty: nothing is written
  int permutation_repeats = 0;  ///< 0: no permutation importance; else the table needs a label
  std::uint64_t seed = 0;       ///< of the permutations
};

/// Keeps a table in the executors' memory, for jobs whose location is then "table:NAME". Result: "tables", a list of
/// the tables made, each with "name", "rows", "features", "label", "weight", "categorical" and "memory_bytes", and
/// "fingerprint" where arrays were read.
struct LoadJob {
  SourceSpec table;
  std::string name;
  std::string cache;         ///< folder where the rows lie on disk too, or are put for the next time; empty: none
  bool only_cached = false;  ///< the source is another by now, and is not read
  /// Of arrays: the "fingerprint" of the first time, in the result. Read again, they must have it still.
  std::optional<std::uint64_t> fingerprint = {};
};

/// Keeps two tables: rows of `table` for the first with probability `fraction`, the others for the second, as
/// table::split shares them out. Result: "tables", as of LoadJob.
struct SplitJob {
  SourceSpec table;
  double fraction = 0.9;
  std::uint64_t seed = 0;
  std::string first;
  std::string second;
};

/// Keeps another table made from `table`, in this order: rows by number, rows by an expression, features by name,
/// features on a common scale. Result: "tables", as of LoadJob, and "scaling" where features were standardised.
struct TransformJob {
  SourceSpec table;
  std::string name;
  std::uint64_t first_row = 0;
  std::optional<std::uint64_t> last_row;  ///< rows [first_row, last_row); unset: to the end
  std::string where;                      ///< as of table::rows_where; empty: all rows
  std::vector<std::string> select;        ///< empty: all features
  bool standardise = false;
  std::optional<table::Scaling> scaling;  ///< of another table, by which to standardise; unset: its own
};

/// Writes the table as delimited text to `output`, which must be there. Result: "rows".
struct SaveJob {
  SourceSpec table;
  std::string output;  ///< as of PredictJob
};

/// Gives the memory of a kept table back. Result: nothing.
struct DropJob {
  std::string name;
};

using Job = std::variant<TrainJob, EvaluateJob, PredictJob, DescribeJob, ExplainJob, LoadJob, SplitJob, TransformJob,
                         SaveJob, DropJob>;

/// Calls `take` with each table that a job reads.
template <typename AnyJob, typename Take>
void for_each_source(AnyJob& job, const Take& take) {
  std::visit(
      [&](auto& any) {
        if constexpr (requires { any.table; }) take(any.table);
        if constexpr (requires { any.validation; }) {
          if (any.validation) take(*any.validation);
        }
      },
      job);
}

/// {"kind": "train", ...}; what has its default is left out.
Json to_json(const Job& job);

/// Inverse of to_json. Throws InputError that names what is unknown, missing or of the wrong type.
Job job_from_json(const Json& json);

}  // namespace podere::session
