// What each phase of a job costs each executor: docs/metrics.md says what the figures mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/energy.h"
#include "podere/base/file_traffic.h"
#include "podere/base/process_usage.h"
#include "podere/comm/communicator.h"
#include "podere/jobs/job.h"

namespace podere::executor {

/// Measures the tasks of one job on this rank. A task is one phase on one executor; the first one begins with the
/// meter. Not thread-safe.
class TaskMeter {
 public:
  /// `group` is that of the job: what its collectives take is the wait for others. One rank of each machine reads the
  /// energy counters in `powercap`. Collective; `group` outlives the meter.
  TaskMeter(const comm::Communicator& group, const std::filesystem::path& powercap);

  /// The phase that begins now. A name that was there before continues that task.
  void enter(const std::string& phase);
  void count_rows(std::uint64_t n_read, std::uint64_t n_written);
  /// The job is done here.
  void end();

  /// The tasks of all ranks, by phases in their order and ranks within; on rank 0, else null. After end(). Collective
  /// over `all`, which has the ranks of the job's group.
  Json gather(const comm::Communicator& all) const;

 private:
  struct Counters {
    double seconds = 0;
    ProcessUsage usage;
    FileTraffic files;
    double wait_seconds = 0;
    std::uint64_t bytes_sent = 0;
    std::optional<double> joules;
  };
  struct Task {
    std::string phase;
    Json figures;
  };
  Counters read_counters();
  void close_task();
  Json figures_since(const Counters& before, const Counters& now) const;

  const comm::Communicator& group_;
  std::optional<EnergyMeter> energy_;  // of the rank that reads it for its machine
  Stopwatch watch_;
  Counters before_;
  std::string phase_;
  std::uint64_t rows_read_ = 0;
  std::uint64_t rows_written_ = 0;
  std::vector<Task> tasks_;
};

/// "job", "phases" and "tasks" of a job of this kind that took so long: `tasks` as gathered, `losses` as of Session.
/// Throws Json::exception for tasks that are none.
Json job_metrics(const std::string& kind, Json tasks, const Json& losses, double elapsed_seconds);

}  // namespace podere::executor
