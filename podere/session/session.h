// Executors that may come and go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/session/driver.h"
#include "podere/session/job.h"

namespace podere::session {

/// Does jobs with a group of executors, and with another group when it loses them. Not thread-safe.
class Session {
 public:
  struct Options {
    int n_executors = 1;  ///< wanted
    int least = 1;        ///< so many are enough
    /// How to start a group of so many.
    std::function<CommandLine(int n_executors)> launch;
    Driver::Options driver = {};  ///< of each group
  };

  /// Starts the executors and waits until they are ready. `progress` as for Driver. If executors are
  /// lost meanwhile, starts again with one less. Throws as Driver.
  Session(Options options, Progress& progress);

  /// Runs a job to its end. If executors are lost, goes on with one less (but not less than enough of them): training
  /// from its checkpoint, other jobs from their beginning. Tells each loss, once it is made up for, by progress.warn().
  /// Adds "losses" to the result: what was lost, where, and the seconds that it took. Throws as Driver::run, and Error
  /// where executors are lost the same way twice with nothing gained between, or too often.
  Json run(const Job& job, Progress& progress);

  /// Ends the executors in order.
  void end();

 private:
  class Watch;
  void start_group(Progress& progress);
  void lose_one();

  Options options_;
  std::unique_ptr<Driver> driver_;
};

}  // namespace podere::session
