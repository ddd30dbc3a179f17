// Leading singular values and vectors of a matrix.
#pragma once

#include <cstdint>
#include <string>

#include "podere/jobs/job.h"
#include "podere/linalg/svd.h"

namespace podere::jobs {

/// Result: "rows", "columns", "values" (their type), "called_as_labels" (columns), "s", "shares" (each of s squared, of
/// the sum of squares of all values), "residuals", "orthogonality" (of "U", where it is written, and of "V"),
/// "resolved" (how many of s are more than rounding), "method", "passes", "has_converged" and seconds.
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
  bool left = true;    ///< U is written
  std::string output;  ///< NPZ: path of an existing, empty file that all executors can write to; empty: none

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("rank", self.rank);
    visit("center", self.center);
    visit("scale", self.scale);
    visit("method", self.method);
    visit("tolerance", self.tolerance);
    visit("max_passes", self.max_passes);
    visit("seed", self.seed);
    visit("left", self.left);
    visit("output", self.output, PathUse::kOutput);
  }
};
Json run(const SvdJob& job, const JobContext& context);

}  // namespace podere::jobs
