// The driver's side of the control protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/progress.h"
#include "podere/base/subprocess.h"
#include "podere/jobs/job.h"

namespace podere::session {

/// The group did not come up, ended, or fell silent: another group may have more luck.
class GroupLost : public Error {
 public:
  GroupLost(const std::string& whom, const std::string& cause, bool explained = false)
      : Error(whom + " lost: " + cause), who(whom), how(cause), is_explained(explained) {}
  std::string who;    ///< "executor 3", "the executors"
  std::string how;    ///< "killed by signal 9"
  bool is_explained;  ///< the launcher reported why the group did not come up
};

/// What training may be asked to do while it runs; looked at a few times a second.
struct ControlRequests {
  /// Whether training should write a checkpoint and end, to resume elsewhere.
  std::function<bool()> pause = [] { return false; };
  /// Whether it should write a checkpoint and continue. True once for each request.
  std::function<bool()> checkpoint = [] { return false; };
};

/// What an executor has last reported of itself.
struct ExecutorSign {
  double silent_seconds = 0;  ///< since it did
  pid_t process = 0;
  std::string host = {};  ///< empty: it has not reported yet
  std::uint64_t memory_bytes = 0;
  std::string phase = {};  ///< of its job; empty between jobs
};

/// Threads that want to run, for each core that this process may use.
double load_per_core();

/// A group of executors and the conversation with them. Ends them when it goes. Not thread-safe.
class Driver {
 public:
  struct Options {
    int n_executors = 1;
    /// A group is lost when it is not up within so long.
    double start_seconds = 60;
    /// A group is lost when one of them has been silent for so long, ten times that where its process is on this
    /// machine and can run; 0: no heartbeats.
    double silence_seconds = 0;
    /// How many threads want each core of this machine: where they are several, both times above are so much longer.
    std::function<double()> load = load_per_core;
    /// Called with each line that executors write to standard error.
    std::function<void(const std::string&)> on_error_line = {};
    /// What to do about processes that are not one group.
    std::string advice = {};
  };

  /// Starts the executors and waits until they are ready. `progress` is asked now and then whether to stop, and may
  /// throw. Throws GroupLost if they cannot be started, or one was lost meanwhile, and Error if they came up as another
  /// number than asked for.
  Driver(const CommandLine& executors, Options options, Progress& progress);
  /// Returns when those of this machine are gone.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Of each executor, as the first one reports.
  int n_cores() const { return n_cores_; }

  /// What is known of each executor; of those without heartbeats nothing but their number.
  std::vector<ExecutorSign> executors() const;

  /// Runs a job and returns its result. Passes reports to `progress`, and its request to stop to the executors:
  /// training then ends after the current round with what there is. Throws InputError or Error with the executors' own
  /// message if the job failed, and GroupLost if the group died, upon which this driver is of no more use. A result of
  /// {"paused": true} comes from a request to pause.
  Json run(const jobs::Job& job, Progress& progress, const ControlRequests& requests = {});

  /// Listens for up to `timeout_ms` to executors that have nothing to do. Throws GroupLost.
  void idle(int timeout_ms);

  /// Ends the executors in order; kills them if that takes longer than 5 s.
  void end();

 private:
  void await_start(Progress& progress);
  void end_at_once();
  /// The next event; empty if there was none for a moment. Throws GroupLost if the group died.
  Json next_event(int timeout_ms);
  void keep_error_line(const std::string& line);
  void check_heartbeats();
  /// How many times longer than on an idle machine all may take.
  double slowness() const;
  [[noreturn]] void throw_cause_of_death();
  /// The line of standard error that says most about their end; empty without one.
  std::string meaningful_words() const;

  Options options_;
  Subprocess executors_;
  std::deque<std::string> last_error_lines_;
  std::optional<Stopwatch> since_end_was_reported_;  // by mpirun
  struct Sign {
    Stopwatch since;
    pid_t process = 0;  // on this machine, if it is
    ExecutorSign reported;
  };
  std::vector<Sign> signs_;  // [n_executors]
  Stopwatch since_listened_;
  bool is_up_ = false;
  int n_cores_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace podere::session
