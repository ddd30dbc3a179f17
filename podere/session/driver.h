// The driver's side of the control protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/base/subprocess.h"
#include "podere/session/job.h"

namespace podere::session {

/// A group of executors and the conversation with them. Ends them when it goes. Not thread-safe.
class Driver {
 public:
  struct Options {
    int n_executors = 1;
    /// Called with each line that executors write to standard error.
    std::function<void(const std::string&)> on_error_line = {};
  };

  /// Starts the executors and waits until they are ready. `progress` is asked now and then whether to stop, and may
  /// throw. Throws Error if they cannot be started, or came up as another number than asked for.
  Driver(const CommandLine& executors, Options options, Progress& progress);

  /// Runs a job and returns its result. Passes reports to `progress`, and its wish to stop to the executors: training
  /// then ends after the current round with what there is. Throws InputError or Error with the executors' own message
  /// if the job failed, and Error if the group died, which this session does not survive.
  Json run(const Job& job, Progress& progress);

  /// Ends the executors in order; kills them if that takes longer than 5 s.
  void end();

 private:
  /// The next event; empty if there was none for a while. Throws Error if the group died.
  Json next_event();
  void keep_error_line(const std::string& line);
  [[noreturn]] void throw_cause_of_death();
  /// ": " and the line of standard error that says most about their end; empty without one.
  std::string telling_words() const;

  Options options_;
  Subprocess executors_;
  std::deque<std::string> last_error_lines_;
  std::optional<Stopwatch> since_end_was_told_;  // by mpirun
  bool is_up_ = false;
  std::int64_t last_id_ = 0;
};

}  // namespace podere::session
