// Tables that stay in the executors' memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/jobs/job.h"
#include "podere/table/standardize.h"

namespace podere::jobs {

/// Keeps a table in the executors' memory, for jobs whose location is then "table:NAME". Result: "tables", a list of
/// the tables made, each with "name", "rows", "features", "label", "weight", "categorical" and "memory_bytes", and
/// "fingerprint" where arrays were read.
struct LoadJob {
  static constexpr const char* kKind = "load";

  source::SourceSpec table;
  std::string name;
  std::string cache;         ///< folder where the rows lie on disk too, or are put for the next time; empty: none
  bool only_cached = false;  ///< the source is another now, and is not read
  /// Of arrays: the "fingerprint" of the first time, in the result. Read again, they must have it still.
  std::optional<std::uint64_t> fingerprint = {};

  void note_result(const Json& result) {
    if (result.contains("fingerprint")) fingerprint = result.at("fingerprint").get<std::uint64_t>();
  }
  void use_cache_only() { only_cached = true; }

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("name", self.name);
    visit("cache", self.cache, PathUse::kCache);
    visit("only_cached", self.only_cached);
    visit("fingerprint", self.fingerprint);
  }
};
Json run(const LoadJob& job, const JobContext& context);

/// Keeps two tables: rows of `table` for the first with probability `fraction`, the others for the second, as
/// table::split shares them out. Result: "tables", as of LoadJob.
struct SplitJob {
  static constexpr const char* kKind = "split";

  source::SourceSpec table;
  double fraction = 0.9;
  std::uint64_t seed = 0;
  std::string first;
  std::string second;

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("fraction", self.fraction);
    visit("seed", self.seed);
    visit("first", self.first);
    visit("second", self.second);
  }
};
Json run(const SplitJob& job, const JobContext& context);

/// Keeps another table made from `table`, in this order: rows by number, rows by an expression, features by name,
/// features on a common scale. Result: "tables", as of LoadJob, and "scaling" where features were standardized.
struct TransformJob {
  static constexpr const char* kKind = "transform";

  source::SourceSpec table;
  std::string name;
  std::uint64_t first_row = 0;
  std::optional<std::uint64_t> last_row;  ///< rows [first_row, last_row); unset: to the end
  std::string where;                      ///< as of table::rows_where; empty: all rows
  std::vector<std::string> select;        ///< empty: all features
  bool standardize = false;
  std::optional<table::Scaling> scaling;  ///< of another table, by which to standardize; unset: its own

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("name", self.name);
    visit("first_row", self.first_row);
    visit("last_row", self.last_row);
    visit("where", self.where);
    visit("select", self.select);
    visit("standardise", self.standardize);
    visit("scaling", self.scaling);
  }
};
Json run(const TransformJob& job, const JobContext& context);

/// Writes the table as delimited text to `output`, which must be there. Result: "rows".
struct SaveJob {
  static constexpr const char* kKind = "save";

  source::SourceSpec table;
  std::string output;  ///< as of PredictJob

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("output", self.output, PathUse::kOutput);
  }
};
Json run(const SaveJob& job, const JobContext& context);

/// Gives the memory of a kept table back. Result: nothing.
struct DropJob {
  static constexpr const char* kKind = "drop";

  std::string name;

  std::string dropped_table() const { return name; }

  static void visit_fields(auto& self, auto&& visit) { visit("name", self.name); }
};
Json run(const DropJob& job, const JobContext& context);

}  // namespace podere::jobs
