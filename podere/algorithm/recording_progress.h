// The measures that training reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/progress.h"

namespace podere::algorithm {

/// Passes reports on, to `listener` too, and keeps their metrics: early stopping may end with an earlier round than the
/// last.
class RecordingProgress : public Progress {
 public:
  explicit RecordingProgress(Progress& next, std::function<void(const ProgressStep&)> listener = {})
      : next_(next), listener_(std::move(listener)) {}

  void report(const ProgressStep& step) override {
    if (step.phase == "train") metrics_[step.done] = step.metrics;
    next_.report(step);
    if (listener_) listener_(step);
  }
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override { next_.warn(message); }
  bool stop_requested() override { return is_stopped_ = is_stopped_ || next_.stop_requested(); }
  bool checkpoint_requested() override { return next_.checkpoint_requested(); }

  /// Of the state after `done` rounds, or steps.
  std::vector<std::pair<std::string, double>> metrics(std::size_t done) const {
    const auto found = metrics_.find(done);
    return found == metrics_.end() ? std::vector<std::pair<std::string, double>>() : found->second;
  }
  bool is_stopped() const { return is_stopped_; }
  /// Rounds, or steps, that were done in all.
  std::size_t n_done() const { return metrics_.empty() ? 0 : metrics_.rbegin()->first; }

 private:
  Progress& next_;
  std::function<void(const ProgressStep&)> listener_;
  std::map<std::size_t, std::vector<std::pair<std::string, double>>> metrics_;
  bool is_stopped_ = false;
};

}  // namespace podere::algorithm
