// Whether to continue after executors were lost, and with how many.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/progress.h"

namespace podere::session {

std::string executors_text(int n);

/// Whether a job that is lost at the step resumes there: what is done counts.
bool counts(const ProgressStep& step);

/// Where a job is, in words.
std::string place_text(const ProgressStep& step);

/// The groups that one job, or one start, has lost.
class Attempts {
 public:
  struct Lost {
    int n_executors = 1;
    std::string how = {};                   ///< "killed by signal 9"
    ProgressStep step = {};                 ///< the last one reported
    std::optional<std::size_t> began = {};  ///< trees, or steps, that it began with
  };

  /// With how many to continue: one less, or the same number where an executor crashed at a step that counts. As long
  /// as groups are lost the same way with nothing gained between, two less, four less, ..., at most half: what kills
  /// them, such as too little memory, may spare fewer. Never less than `least`. Throws Error that says what was tried:
  /// where the same number is lost the same way again and nothing smaller is left, or after many losses of different
  /// kinds.
  int after(const Lost& lost, int least);

 private:
  bool is_alike(const Lost& lost) const;
  [[noreturn]] void give_up(const Lost& lost, int least) const;

  std::vector<Lost> alike_;                // the last ones
  int n_kinds_ = 0;                        // since a group began with more than any before
  std::optional<std::size_t> most_begun_;  // trees, or steps
};

}  // namespace podere::session
