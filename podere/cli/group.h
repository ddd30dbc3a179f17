// Executors for a command.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "podere/base/temporary_folder.h"
#include "podere/cli/arguments.h"
#include "podere/session/session.h"

namespace podere::cli {

/// The command was given to Slurm, to be done there.
struct Submitted {};

/// Gives this command to Slurm if it is to be submitted, and then throws Submitted. run_job does so, too: a command
/// that makes something before which the submitted one would find, such as a lock, calls this first. Throws InputError.
void submit_if_asked(const GroupOptions& group, const OutputOptions& output);

/// How executors are started that run this very program: on this machine, on hosts, or in an allocation of Slurm. What
/// they need on this machine lies in `folder`, which must outlive them. Throws InputError for what cannot be so.
session::Session::Options session_options(const GroupOptions& group, const OutputOptions& output,
                                          const TemporaryFolder& folder);

/// Where executors find a folder for what the driver makes of its own accord: `folder` on this machine; elsewhere a new
/// one in the working folder, which they see as they see the table.
class SeenFolder {
 public:
  SeenFolder(const GroupOptions& group, const TemporaryFolder& folder);
  const std::filesystem::path& path() const { return (shared_ ? *shared_ : here_).path(); }

 private:
  const TemporaryFolder& here_;
  std::optional<TemporaryFolder> shared_;
};

/// Starts executors, runs a job on them and ends them, or has a session do it. Returns its result with "start_seconds"
/// and "usable_cores" added, and "warning" if these are far fewer than asked for (to its "facts" if it has such).
/// `keep` is called with the result before the executors end: what took hours to make is to be safe first. Training
/// keeps checkpoints while it runs, in a folder of its own unless the job names a file. Throws as session::Session and
/// JobProgress, and Submitted instead of doing anything if this command is to be submitted, once it was.
Json run_job(const GroupOptions& group, const OutputOptions& output, const jobs::Job& job,
             const std::function<void(const Json&)>& keep = {});

}  // namespace podere::cli
