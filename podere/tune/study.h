// Which trials there are, how long each is trained, and which is the best: decided in an order that no clock changes.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/enum_names.h"
#include "podere/base/json.h"
#include "podere/tune/search.h"

namespace podere::tune {

/// Which trials are trained further.
enum class Schedule {
  kNone,     ///< all, to the end
  kAsha,     ///< whenever a trial is among the best 1/eta of those measured so far after as many rounds; at least one
  kHalving,  ///< the best 1/eta of all trials, once all are measured after as many rounds
  kMedian,   ///< those no worse than the median of those measured so far after as many rounds
  /// As kAsha, within brackets: trials of each are measured first after another number of rounds, up to all of them, in
  /// case those that are good in the end are not so soon. Source: Li et al., JMLR 2018, whose sizes of brackets it has.
  kHyperband,
};
constexpr EnumNames<5> names_of(Schedule /*enumeration*/) {
  return {"schedule", {"none", "asha", "halving", "median", "hyperband"}};
}
using podere::to_string;

struct StudyOptions {
  std::size_t n_trials = 64;
  Schedule schedule = Schedule::kAsha;
  std::size_t eta = 3;           ///< from 2: how many times longer a promoted trial is trained, and one of how many is
  std::size_t least_budget = 1;  ///< rounds or epochs before a trial is measured first
  std::size_t most_budget = 1;   ///< at the end, at least least_budget
  std::size_t parallel = 8;      ///< steps that may be under way at once; another number is another search
};

/// A trial is to be trained from `from` rounds or epochs (0: from nothing) to `budget`, and measured.
struct Step {
  std::size_t trial = 0;
  std::size_t rung = 0;
  std::size_t from = 0;
  std::size_t budget = 0;
  Json setting;
};

/// How a step went.
struct StepResult {
  double loss = 0;     ///< lower is better; NaN: it failed
  bool ended = false;  ///< training more would change nothing: it stopped early or failed
  Json facts;          ///< what else is to be known of it
};

/// A trial so far.
struct Trial {
  enum class State { kRunning, kPaused, kComplete, kFailed };
  Json setting;
  State state = State::kRunning;
  std::vector<std::pair<Step, StepResult>> done;
  /// The step after which it was best, which is not the last where more rounds made it worse. There must be one.
  const std::pair<Step, StepResult>& best() const;
  /// After that step; NaN where there is none, or it failed.
  double loss() const;
};

constexpr EnumNames<4> names_of(Trial::State /*enumeration*/) {
  return {"state of a trial", {"running", "paused", "complete", "failed"}};
}

/// A search with its schedule. Decides as that many workers would whose steps each take a time equal to their rounds:
/// results are looked at in the order in which those workers would have them, ties by trial. So all decisions follow
/// from the results alone. Source: Li et al., MLSys 2020 (ASHA).
class Study {
 public:
  /// Of a step whose result was looked at, in the order in which they were.
  using Listener = std::function<void(const Trial& trial, const Step& step, const StepResult& result)>;

  /// `search` outlives it. Throws InputError for options out of range.
  Study(const StudyOptions& options, const Search& search, Listener listener = {});

  /// The steps that may be done now, in any order, those first whose results are waited for. None: the study is over.
  /// Those that were reported are not among them.
  std::vector<Step> to_do() const;
  /// The result of a step of to_do().
  void report(const Step& step, StepResult result);

  const std::vector<Trial>& trials() const { return trials_; }
  const std::vector<std::size_t>& rungs() const { return rungs_; }
  std::size_t n_trials() const { return n_trials_; }
  /// The trial with the least loss, ties by number. None: no trial has a loss.
  std::optional<std::size_t> best() const;

 private:
  struct UnderWay {
    Step step;
    std::optional<StepResult> result;
  };
  /// Trials that compete with each other.
  struct Bracket {
    std::size_t first_rung = 0;  ///< on which its trials are measured first
    std::size_t n_trials = 0;
    std::vector<std::vector<std::size_t>> measured;  ///< [rung] trials, in the order of results
    std::vector<std::size_t> n_promoted;             ///< [rung]
  };
  void fill();
  void look_at_results();
  void take(const Step& step, const StepResult& result);
  std::optional<Step> next();
  Json suggest(std::size_t trial);
  std::optional<std::size_t> promoted_from(const Bracket& bracket, std::size_t rung) const;
  std::size_t n_promoted_of(const Bracket& bracket, std::size_t rung) const;
  bool is_full(const Bracket& bracket, std::size_t rung) const;

  StudyOptions options_;
  const Search& search_;
  Listener listener_;
  std::size_t n_trials_;
  std::vector<std::size_t> rungs_;  // budgets
  std::vector<Trial> trials_;
  std::vector<Observation> seen_;  // a trial's last, in the order of first results
  std::vector<Bracket> brackets_;
  std::vector<std::size_t> bracket_of_;                         // [trial]
  std::vector<std::vector<bool>> is_promoted_;                  // [rung][trial]
  std::map<std::pair<std::size_t, std::size_t>, UnderWay> on_;  // by (end, trial)
  std::size_t now_ = 0;
};

/// The budgets after which trials are measured: most / eta^k, rounded up, from least on.
std::vector<std::size_t> rungs_of(const StudyOptions& options);

/// Of each trial the rung on which it is measured first: 0, but for Hyperband. Any number of first trials is dealt to
/// brackets as all are.
std::vector<std::size_t> first_rungs_of(const StudyOptions& options, std::size_t n_trials);

}  // namespace podere::tune
