// Keeping what a training run has, so that what was lost with its executors can be made up for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"

namespace podere::session {

/// A file with the model so far, a whole model file itself, which rank 0 reads and writes.
class Checkpoint {
 public:
  /// `path` may be empty: nothing is kept. `progress` hears where nothing could be written.
  Checkpoint(std::string path, double interval_seconds, const comm::Communicator& comm, Progress& progress);

  /// The content of the file, on all ranks; nothing if there is no file. Collective. Throws InputError, on all ranks,
  /// for a file that cannot be read.
  std::optional<std::string> read() const;

  /// Takes note of the text of the model so far. It is written, beside the old file and then in its place, if it
  /// `is_wanted`, when progress wants it, and once an interval, or less often where writing would take more than a
  /// twentieth of the time. A disk that is full is told once, and the run goes on. Local.
  void offer(const std::function<std::string()>& so_far, bool is_wanted = false);
  /// Whether the last that was due could not be written. On rank 0.
  bool has_failed() const { return has_failed_; }

 private:
  std::string path_;
  double interval_seconds_;
  const comm::Communicator& comm_;
  Progress& progress_;
  Stopwatch since_written_;
  double write_seconds_ = 0;
  bool has_failed_ = false;
  bool has_warned_ = false;
};

}  // namespace podere::session
