// The search for the options with which an algorithm learns a table best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "podere/base/enum_names.h"
#include "podere/jobs/cross_validation.h"
#include "podere/jobs/job.h"
#include "podere/tune/study.h"

namespace podere::jobs {

/// How executors share trials.
enum class SideBySide {
  kAuto,  ///< as kYes where rows are few
  kYes,   ///< each thread of each executor trains a trial alone, on a copy of all rows that its executor holds
  kNo,    ///< all executors train one trial after the other
};
constexpr EnumNames<3> names_of(SideBySide /*enumeration*/) { return {"side-by-side", {"auto", "yes", "no"}}; }
using podere::to_string;

inline constexpr int kMostHeldOut = 100;
inline constexpr std::size_t kMostPicks = 100;
/// A table of fewer rows with fewer values in all is searched with trials side by side where the job does not say.
inline constexpr std::uint64_t kSmallRows = 200'000;
inline constexpr std::uint64_t kSmallValues = 20'000'000;
/// Trials that a search of such a table assumes to be under way where the job does not say. Of a larger one each step
/// waits for the one before, so that one is assumed, which lets the search know all results.
inline constexpr std::size_t kParallelTrials = 8;
/// One in five of fewer rows says too little of which trial is the best.
inline constexpr std::uint64_t kFoldedRows = 50'000;

/// Result: "model" (the model file's content, trained on all rows with the best options) and "facts". The same for any
/// number of executors and threads, unless `seconds` ends it.
struct TuneJob {
  static constexpr const char* kKind = "tune";

  source::SourceSpec table;
  std::optional<source::SourceSpec> validation;  ///< rows that trials are measured on
  std::string algorithm = "trees";               ///< as catalog::algorithm_called knows it
  Json options = Json::object();                 ///< of all trials; a search does not change them
  std::string space;                             ///< as tune::Space::from_toml; empty: that of the algorithm
  std::string space_name = "space";              ///< of the file, for messages
  std::string search = "tpe";                    ///< as tune::search_called
  tune::Schedule schedule = tune::Schedule::kAsha;
  std::size_t trials = 64;
  std::size_t eta = 3;
  std::size_t least_budget = 0;  ///< rounds or epochs after which a trial is measured first; at the earliest; 0: of all
                                 ///< the share 1 / eta^2
  std::size_t parallel = 0;      ///< trials that the search assumes to be under way at once; 0: 1, or of a small table
                                 ///< kParallelTrials
  SideBySide side_by_side = SideBySide::kAuto;
  std::uint64_t seed = 0;    ///< of the search
  Folds folds;               ///< trials are measured on each fold
  int held_out = 0;          ///< without folds and `validation`: one row of so many is measured on, 2 .. 100; 0: of
                             ///< 5, or where there are fewer than kFoldedRows rows five folds
  std::string score;         ///< a measure; empty: the one that training minimizes
  std::size_t ensemble = 0;  ///< picks of select_ensemble, whose trials are blended; 0: the best trial alone
  bool one_standard_error = false;  ///< the smallest model within one of the best is taken; needs folds
  int nested = 0;      ///< the search is repeated without each of so many parts of the rows, and measured there; 0: not
  double seconds = 0;  ///< after which no step begins; 0: no limit
  std::string study;   ///< file of rank 0: a journal, from which the search resumes; empty: none

  static void visit_fields(auto& self, auto&& visit) {
    visit("table", self.table);
    visit("validation", self.validation);
    visit("algorithm", self.algorithm);
    visit("options", self.options);
    visit("space", self.space);
    visit("space_name", self.space_name);
    visit("search", self.search);
    visit("schedule", self.schedule);
    visit("trials", self.trials);
    visit("eta", self.eta);
    visit("least_budget", self.least_budget);
    visit("parallel", self.parallel);
    visit("side_by_side", self.side_by_side);
    visit("seed", self.seed);
    visit("folds", self.folds);
    visit("held_out", self.held_out);
    visit("score", self.score);
    visit("ensemble", self.ensemble);
    visit("one_standard_error", self.one_standard_error);
    visit("nested", self.nested);
    visit("seconds", self.seconds);
    visit("study", self.study, PathUse::kCheckpoint);
  }
};
Json run(const TuneJob& job, const JobContext& context);

}  // namespace podere::jobs
