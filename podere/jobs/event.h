// The events of the control protocol, as values.
#pragma once

#include <string>

#include "podere/base/error.h"
#include "podere/base/progress.h"
#include "podere/jobs/job.h"

namespace podere::jobs {

/// While waiting for a line, this is how often other things are looked at.
inline constexpr int kPollMs = 100;

/// Takes the member `name` out of an event; `fallback` if there is none. Throws Error if it is of another type.
template <typename T>
T take(Json& event, const char* name, T fallback);

/// {"event": "progress", ...}
Json progress_event(const ProgressStep& step);
/// Inverse of progress_event.
ProgressStep step_of(Json& event);

/// Throws what a "failed" event says, as InputError or Error.
[[noreturn]] void throw_failure(Json& event);

/// {"id":1,"job":{...}} and the members of `more`. Throws InputError for names that are not UTF-8.
std::string order_line(const Json& id, const Job& job, const Json& more = Json::object());

}  // namespace podere::jobs
