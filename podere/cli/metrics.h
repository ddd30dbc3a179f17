// What a job cost, for people.
#pragma once

#include <string>

#include "podere/jobs/job.h"

namespace podere::cli {

/// A table of the phases of `metrics` (those of executor::job_metrics) with a line of the job, or of the tasks too;
/// then what does not depend on the phase.
std::string metrics_text(const Json& metrics, bool with_tasks);

/// What would be faster, where executors of a job that took a second or more waited for each other most of the time;
/// else empty. `facts`: of a job, with "metrics", or of
/// what is none.
std::string waiting_text(const Json& facts);

/// "980 B", "12.3 kB", "4.5 GB".
std::string byte_count(double n_bytes);

}  // namespace podere::cli
