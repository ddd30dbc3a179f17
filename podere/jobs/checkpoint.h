// Keeping what a training run has, so that what was lost with its executors can be made up for.
#pragma once

#include <functional>
#include <string>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"

namespace podere::jobs {

/// Throws InputError, beginning with `what`, where `path` is there and no file, such as a pipe, which would wait for
/// ever.
void check_is_place_for_checkpoint(const std::string& path, const char* what = "checkpoint");

/// A file with the model so far, a whole model file itself, which rank 0 reads and writes.
class Checkpoint {
 public:
  /// `path` may be empty: nothing is kept. `progress` gets a warning where nothing could be written.
  Checkpoint(std::string path, double interval_seconds, const comm::Communicator& comm, Progress& progress);

  /// Gives the content of the file to `take`, on all ranks, where there is one; of an empty file it warns.
  /// Collective. Throws InputError, on all ranks, that says what to do about a file which cannot be read, or which
  /// `take` refuses by an InputError.
  void read(const std::function<void(const std::string& text)>& take) const;

  /// Takes note of the text of the model so far. It is written, beside the old file and then in its place, if it
  /// `is_wanted`, when progress wants it, and once an interval, or less often where writing would take more than a
  /// twentieth of the time. A full disk is reported once and tried again after ever
  /// longer; the run continues. Local.
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
  double retry_seconds_ = 0;  // more patience after a failure
  bool has_failed_ = false;
  bool has_warned_ = false;
};

}  // namespace podere::jobs
