// Executors that may come and go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/jobs/job.h"
#include "podere/launch/launcher.h"
#include "podere/session/driver.h"
#include "podere/session/table_log.h"

namespace podere::session {

inline constexpr int kMostExecutors = 4096;

using launch::Wanted;

/// Does jobs with a group of executors, and with another group when it loses them. Not thread-safe.
class Session {
 public:
  struct Options {
    int n_executors = 1;  ///< wanted
    int least = 1;        ///< so many are enough
    /// Where groups are started.
    std::shared_ptr<launch::Launcher> launcher;
    Driver::Options driver = {};  ///< of each group
    /// Folder on this machine where rows that were read are kept for a group that starts again; empty: none.
    std::string cache = {};
    /// How many are wanted now, in place of what the launcher says; asked a few times a second while a job
    /// runs or a group starts. Training pauses at a checkpoint and continues with so many; other jobs are done first. A
    /// group that is to move is not waited for.
    std::function<Wanted()> wanted = {};
    /// Whether training should write a checkpoint at once: executors are about to be lost. True once for each notice.
    std::function<bool()> notice = {};
  };

  /// Starts the executors and waits until they are ready. `progress` as for Driver. If executors are lost meanwhile,
  /// starts again with fewer, which progress.warn() reports. Throws as Driver, and as Attempts where it gives up.
  Session(Options options, Progress& progress);
  /// Ends the executors, and removes what they left in memory if they were killed.
  ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs a job to its end. Tables that a group kept are made again by the group that takes its place; one for which
  /// that cannot be, since its file has changed, is reported, and jobs that use it are refused. If executors are lost,
  /// continues with fewer, as Attempts says: training from its checkpoint, other jobs from their
  /// beginning. Reports each loss, once it is made up for, by progress.warn(). Adds "losses" to the result: what was
  /// lost, where, and the seconds that it took; and "metrics", what the job cost (job_metrics). Throws as Driver::run,
  /// and as Attempts where it gives up: the next job begins with as many executors as this one.
  Json run(const jobs::Job& job, Progress& progress);

  /// Between jobs: reads what the executors have sent. If some were lost, or another number is wanted, starts a group
  /// anew, with the tables that are kept. What cannot be started now is tried again by run(), which waits for room too
  /// and reports why.
  void idle(Progress& progress);

  int n_executors() const { return options_.n_executors; }
  /// What is known of each executor; empty where no group stands.
  std::vector<ExecutorSign> executors() const { return driver_ ? driver_->executors() : std::vector<ExecutorSign>{}; }
  /// Of each executor of the last group that stood.
  int n_cores() const { return n_cores_; }
  /// What loading reported of each table that is kept, by name.
  const std::map<std::string, Json>& tables() const { return log_.tables(); }

  /// Ends the executors in order.
  void end();

 private:
  class Watch;
  class Restoring;
  class Starting;
  struct ToMove;
  /// Goes last, and where nothing was started as well.
  struct SharedMemory {
    ~SharedMemory();
  };
  /// Throws ToMove if the executors are to leave their place before they are up.
  void start_group(Progress& progress);
  /// The command that starts them. Throws GroupLost where fewer can be had.
  CommandLine command();
  void restore_tables(Progress& progress);
  /// Starts a group with all tables that are kept, or none.
  void replace_group(Progress& progress, Progress& restoring);
  /// The job with a place in the cache, if it reads a file.
  jobs::Job with_cache(jobs::Job job);
  /// Removes from the cache what no kept table needs.
  void sweep_cache() const;
  void continue_with(int n_executors);
  int as_there_is_room(int n_executors) const;
  /// What is wanted now; unchanged if neither `wanted` nor the launcher says.
  Wanted wanted_now() const;
  /// Ends the group if another number of executors is wanted, or another place; whether it was so.
  bool resize(Progress& progress);

  SharedMemory left_behind_;
  Options options_;
  Wanted wanted_;  // last
  TableLog log_;
  int n_cached_ = 0;  // places given out
  std::unique_ptr<Driver> driver_;
  int n_cores_ = 0;
};

}  // namespace podere::session
