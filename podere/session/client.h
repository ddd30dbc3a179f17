// Using a session that another process drives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "podere/base/local_socket.h"
#include "podere/base/progress.h"
#include "podere/jobs/job.h"
#include "podere/report/live_runs.h"

namespace podere::session {

/// A connection to a session of this user. Not thread-safe.
class Client {
 public:
  /// Throws InputError that names the sessions that there are if there is none called `name`.
  explicit Client(const std::string& name);

  /// As Session::run. Paths of the job are those of this process. If this object goes before the end, or an exception
  /// comes out of `progress` or `queued`, the job is cancelled. `queued` gets the job's number in the session, and how
  /// many jobs before it wait or run. The session shows the job under its title.
  using Queued = std::function<void(std::int64_t number, std::size_t n_ahead)>;
  Json run(const jobs::Job& job, Progress& progress, const report::RunTitle& title = {}, const Queued& queued = {});

  /// The answer to an order that is no job, such as {"ask":"status"}. Throws InputError that says why it was refused.
  Json ask(Json order);

  /// From now on, calls `take` with each event of all jobs until it says false. Returns false if the session ended.
  bool follow(const std::function<bool(const Json& event)>& take);

 private:
  /// The next event; empty if there was none for a moment.
  Json next_event();

  std::string name_;
  LineSocket socket_;
  std::int64_t last_id_ = 0;
};

/// The job with absolute paths.
jobs::Job with_absolute_paths(jobs::Job job);

}  // namespace podere::session
