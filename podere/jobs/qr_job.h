// The QR decomposition of a matrix.
#pragma once

#include <string>

#include "podere/columns/write_arrays.h"
#include "podere/jobs/job.h"
#include "podere/jobs/matrix_input.h"

namespace podere::jobs {

/// Result: the facts of the matrix, "imputed" where that is wanted, "passes" (over the rows), "shifted" (of these), of
/// Q, if it is wanted, "orthogonality" (the largest entry of |Q^T Q - 1|) and "residual" (the largest of |A - Q R| in a
/// column, in the largest of that column), and seconds. Writes "R" [n x n] and "Q" [m x n].
struct QrJob {
  static constexpr const char* kKind = "qr";

  source::SourceSpec table;
  bool q = true;                  ///< Q is wanted
  Impute impute = Impute::kNone;  ///< kNone: missing values are refused
  std::string output;             ///< path of an existing, empty file that all executors can write to; empty: none
  columns::ArraysFormat output_format = columns::ArraysFormat::kNpz;

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("q", self.q);
    visit("impute", self.impute);
    visit("output", self.output, PathUse::kOutput);
    visit("output_format", self.output_format);
  }
};
Json run(const QrJob& job, const JobContext& context);

}  // namespace podere::jobs
