// Covariances or correlations of the columns of a matrix.
#pragma once

#include <string>

#include "podere/columns/write_arrays.h"
#include "podere/jobs/job.h"
#include "podere/jobs/matrix_input.h"

namespace podere::jobs {

/// Result: the facts of the matrix, "imputed" where that is wanted, "constant" (columns), "strongest" (the pairs of
/// columns with the largest correlations in magnitude: "columns" and "correlation"), and seconds. Writes "covariance"
/// or "correlation" [n x n], where correlations of constant columns are NaN, "mean" and "deviation" [n].
struct CovarianceJob {
  static constexpr const char* kKind = "covariance";

  source::SourceSpec table;
  bool correlation = false;       ///< written in place of covariances
  Impute impute = Impute::kNone;  ///< kNone: missing values are refused
  std::string output;             ///< path of an existing, empty file that all executors can write to; empty: none
  columns::ArraysFormat output_format = columns::ArraysFormat::kNpz;

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("correlation", self.correlation);
    visit("impute", self.impute);
    visit("output", self.output, PathUse::kOutput);
    visit("output_format", self.output_format);
  }
};
Json run(const CovarianceJob& job, const JobContext& context);

}  // namespace podere::jobs
