// What connects the executors.
#pragma once

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Measures all_reduces between the executors, of which there are 2 or more. Result: "latency_us", of a step of a
/// collective, and "gigabits", a second, adding up included.
struct NetworkJob {
  static constexpr const char* kKind = "network";

  int n_runs = 31;  ///< of each size; medians count

  static void visit_fields(auto& self, auto&& visit) { visit("n_runs", self.n_runs); }
};
Json run(const NetworkJob& job, const JobContext& context);

}  // namespace podere::jobs
