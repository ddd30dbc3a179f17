// The kinds of jobs that there are.
#pragma once

#include <string>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// A job of that kind, all of whose fields have their defaults. Throws InputError that names the kinds.
Job job_of_kind(const std::string& kind);

}  // namespace podere::jobs
