// Looking at a table.
#pragma once

#include <cstddef>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Result: "rows" and "columns", with "texts" where there are any among the numbers; or, if that is asked for,
/// "label_values" alone: all different ones, rising, or null if there are more or NaN among them.
struct DescribeJob {
  static constexpr const char* kKind = "describe";

  source::SourceSpec table;
  std::size_t label_values = 0;  ///< the most that are listed; 0: none

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("label_values", self.label_values);
  }
};
Json run(const DescribeJob& job, const JobContext& context);

}  // namespace podere::jobs
