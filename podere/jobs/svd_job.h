// Leading singular values and vectors of a matrix, and scores of rows by these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podere/columns/write_arrays.h"
#include "podere/jobs/job.h"
#include "podere/jobs/matrix_input.h"
#include "podere/linalg/svd.h"

namespace podere::jobs {

/// Result: the facts of the matrix, "imputed" where that is wanted, "s", "shares" (each of s squared, of the sum of
/// squares of all values), "residuals", "orthogonality" (of "U", where it is written, and of "V"), "resolved" (how many
/// of s are more than rounding), "method", "passes", "has_converged" and seconds.
struct SvdJob {
  static constexpr const char* kKind = "svd";

  source::SourceSpec table;
  std::uint64_t rank = 0;
  bool center = false;  ///< subtracts the mean of each column
  bool scale = false;   ///< divides each column by its standard deviation, too
  linalg::SvdMethod method = linalg::SvdMethod::kAutomatic;
  double tolerance = 1e-10;  ///< as of linalg::SvdOptions, and so are the next two
  int max_passes = 100;
  std::uint64_t seed = 0;
  Impute impute = Impute::kNone;  ///< kNone: missing values are refused
  bool drop_missing = false;      ///< leaves out columns without a value in any row
  bool left = true;               ///< U is written
  std::string output;             ///< an existing, empty file, or folder, that all executors can write to; empty: none
  columns::ArraysFormat output_format = columns::ArraysFormat::kNpz;

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("rank", self.rank);
    visit("center", self.center);
    visit("scale", self.scale);
    visit("method", self.method);
    visit("tolerance", self.tolerance);
    visit("max_passes", self.max_passes);
    visit("seed", self.seed);
    visit("impute", self.impute);
    visit("drop_missing", self.drop_missing);
    visit("left", self.left);
    visit("output", self.output, PathUse::kOutput);
    visit("output_format", self.output_format);
  }
};
Json run(const SvdJob& job, const JobContext& context);

/// The scores of rows: (X - mean) V, as "scores" [rows x rank], written as of SvdJob. Result: "rows" and seconds.
struct ProjectJob {
  static constexpr const char* kKind = "project";

  source::SourceSpec table;
  std::vector<std::string> columns;  ///< those that the rows must have, in this order; empty: any
  std::vector<double> mean;          ///< [columns]
  std::vector<double> vectors;       ///< V [columns x rank], row by row
  std::string output;                ///< as of SvdJob, NPZ

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("columns", self.columns);
    visit("mean", self.mean);
    visit("vectors", self.vectors);
    visit("output", self.output, PathUse::kOutput);
  }
};
Json run(const ProjectJob& job, const JobContext& context);

}  // namespace podere::jobs
