// A study carried out by executors: its steps, what an earlier run left of it, and its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "podere/base/clock.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/trials.h"
#include "podere/tune/kept_study.h"
#include "podere/tune/search.h"
#include "podere/tune/space.h"
#include "podere/tune/study.h"

namespace podere::jobs {

/// A pause waits for what was asked to be kept: steps that are done always are.
class PausedAnywhere : public Progress {
 public:
  explicit PausedAnywhere(Progress& next) : next_(next) {}
  void report(const ProgressStep& step) override { next_.report(step); }
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override { next_.warn(message); }
  bool stop_requested() override {
    next_.checkpoint_requested();
    return next_.stop_requested();
  }

 private:
  Progress& next_;
};

/// What a study is, beside its options.
struct StudyFacts {
  std::string algorithm;
  std::string search;       ///< as tune::search_called
  std::uint64_t seed = 0;   ///< of the search
  std::string score;        ///< as Trials
  Json identity;            ///< by what it differs from others
  std::string file;         ///< of rank 0; empty: none
  double most_seconds = 0;  ///< after which no step begins; 0: no limit
};

/// Decides the same on all ranks; the file is rank 0's. All ranks call the same functions in the same order.
class StudyRun {
 public:
  /// What is given outlives it. Throws InputError, on all ranks, for a file that has another study.
  StudyRun(const StudyFacts& facts, const tune::Space& space, const tune::StudyOptions& options,
           const JobContext& context);

  const tune::Study& study() const { return kept_->study(); }

  /// Does one step after the other, each by all ranks, until there are none, the time is over or it is stopped; false
  /// for the last. Collective.
  bool run_in_turn(const Trials& trials);
  /// The same, but each step is done by one thread of a rank alone, several at the same time: the rows of `trials` are
  /// all rows, on each rank. Collective.
  bool run_side_by_side(const Trials& trials);

  /// Steps that were not read from the file.
  std::size_t n_steps() const { return n_steps_; }

 private:
  class StudyProgress;
  class Pool;

  void report(const tune::Step& step, tune::StepResult result);
  void warn_of_fault();
  bool is_out_of_time() const { return most_seconds_ > 0 && watch_.seconds() >= most_seconds_; }

  const std::string path_;
  const std::string score_;
  const double most_seconds_;
  const JobContext& context_;
  const Stopwatch watch_;
  std::unique_ptr<tune::Search> search_;
  std::optional<tune::KeptStudy> kept_;
  std::size_t n_steps_ = 0;
  bool has_warned_ = false;
};

}  // namespace podere::jobs
