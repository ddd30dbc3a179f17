// What a user sees while a job runs, and how Ctrl-C reaches it.
#pragma once

#include <string>

#include "podere/base/clock.h"
#include "podere/base/interrupt.h"
#include "podere/base/progress.h"
#include "podere/cli/arguments.h"

namespace podere::cli {

/// Shows reports on standard error: a bar redrawn in place on a terminal; elsewhere a line every few seconds of phases
/// that have steps, or nothing with --json.
class JobProgress : public Progress {
 public:
  enum class Style { kBar, kLines, kNone };
  static Style style_for(const OutputOptions& output);

  explicit JobProgress(Style style, double seconds_between_lines = 5)
      : style_(style), seconds_between_lines_(seconds_between_lines) {}
  explicit JobProgress(const OutputOptions& output) : JobProgress(style_for(output)) {}
  ~JobProgress() override { clear(); }

  void report(const ProgressStep& step) override;
  void warn(const std::string& message) override;
  /// True after the first Ctrl-C in training, which can end with the model so far. Otherwise, or after the second
  /// one, throws Interrupted.
  bool stop_requested() override;
  /// Takes the bar away.
  void clear();

 private:
  Style style_;
  double seconds_between_lines_;
  std::string phase_;
  std::size_t first_done_ = 0;  // when the phase began
  Stopwatch in_phase_;
  Stopwatch since_line_;
  bool is_drawn_ = false;
  bool has_something_ = false;  // that is worth ending in order
};

/// "12 of 50 trees, loss 0.61, validation auc 0.79". `total` of 1 means a phase without steps.
std::string step_text(const ProgressStep& step);

}  // namespace podere::cli
