// Executors for a command.
#pragma once

#include <functional>

#include "podere/base/temporary_folder.h"
#include "podere/cli/arguments.h"
#include "podere/session/session.h"

namespace podere::cli {

/// How executors are started on this machine that run this very program. What they need besides lies in `folder`, which
/// must outlive them.
session::Session::Options session_options(const GroupOptions& group, const OutputOptions& output,
                                          const TemporaryFolder& folder);

/// Starts executors, runs a job on them and ends them, or has a session do it. Returns its result with "start_seconds"
/// and "usable_cores" added, and "warning" if these are far fewer than asked for (to its "facts" if it has such).
/// `keep` is called with the result before the executors end: what took hours to make is to be safe first. Training
/// keeps checkpoints while it runs, in a folder of its own unless the job names a file. Throws as session::Session and
/// JobProgress.
session::Json run_job(const GroupOptions& group, const OutputOptions& output, const session::Job& job,
                      const std::function<void(const session::Json&)>& keep = {});

}  // namespace podere::cli
