#include "podere/tune/study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

const double kNoLoss = std::numeric_limits<double>::quiet_NaN();

const char* const kStudySpace = "x = { low = 0.0, high = 1.0 }\ny = { low = 0.0, high = 1.0 }";

/// What a step gives: by hash of trial and rung, better after more rounds.
using Outcome = std::function<StepResult(const Step& step)>;

StepResult fake(const Step& step) {
  const double x = step.setting.at("x").get<double>();
  const double noise = uniform01(hash64(3, step.rung, step.trial));
  return {.loss = std::abs(x - 0.3) + (1 + 0.3 * noise) / static_cast<double>(step.budget), .facts = {}};
}

/// As fake(); one trial in 7 fails, another ends after its second rung.
StepResult fake_with_faults(const Step& step) {
  StepResult result = fake(step);
  if (step.trial % 7 == 3) return {.loss = kNoLoss, .ended = true, .facts = {}};
  result.ended = step.trial % 7 == 5 && step.rung > 0;
  return result;
}

/// Everything that a study decides, as text.
struct Decisions {
  std::vector<std::string> listened;
  std::vector<Trial> trials;
  std::vector<std::size_t> rungs;
  std::optional<std::size_t> best;
  std::size_t n_most_to_do = 0;

  std::string text() const {
    std::string all;
    for (const std::string& line : listened) all += line + "\n";
    for (const Trial& trial : trials) {
      all += trial.setting.dump() + " " + std::to_string(static_cast<int>(trial.state)) + "\n";
    }
    return all + (best ? std::to_string(*best) : "none");
  }

  std::size_t n_on(std::size_t rung) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(trials, [&](const Trial& trial) { return trial.done.size() > rung; }));
  }
};

/// Runs a study to its end. The results of the steps come in an order by hash of `order`; 0: in that of to_do().
Decisions run_study(const StudyOptions& options, const Search& search, const Outcome& outcome,
                    std::uint64_t order = 0) {
  Decisions decisions;
  Study study(options, search, [&](const Trial& trial, const Step& step, const StepResult& result) {
    decisions.listened.push_back(std::to_string(step.trial) + " " + std::to_string(step.from) + " to " +
                                 std::to_string(step.budget) + ": " + std::to_string(result.loss) + ", state " +
                                 std::to_string(static_cast<int>(trial.state)));
  });
  for (std::size_t n_reported = 0; !study.to_do().empty(); ++n_reported) {
    const std::vector<Step> steps = study.to_do();
    EXPECT_LE(steps.size(), options.parallel);
    decisions.n_most_to_do = std::max(decisions.n_most_to_do, steps.size());
    const Step& step = steps[order == 0 ? 0 : hash64(order, 0, n_reported) % steps.size()];
    study.report(step, outcome(step));
    if (n_reported > 100'000) {
      ADD_FAILURE() << "no end";
      break;
    }
  }
  decisions.trials = study.trials();
  decisions.rungs = study.rungs();
  decisions.best = study.best();
  return decisions;
}

StudyOptions options_of(Schedule schedule, std::size_t n_trials = 40, std::size_t parallel = 8) {
  return {
      .n_trials = n_trials, .schedule = schedule, .eta = 3, .least_budget = 1, .most_budget = 27, .parallel = parallel};
}

std::unique_ptr<Search> study_search(const std::string& name = "random") {
  return search_called(name, Space::from_toml(kStudySpace, "space.toml"), 7);
}

constexpr Schedule kAllSchedules[] = {Schedule::kNone, Schedule::kAsha, Schedule::kHalving, Schedule::kMedian,
                                      Schedule::kHyperband};

TEST(Study, DecidesTheSameInWhateverOrderResultsCome) {
  for (const std::string name : {"random", "tpe"}) {
    const auto search = study_search(name);
    for (const Schedule schedule : kAllSchedules) {
      std::set<std::string> of_parallel;
      for (const std::size_t parallel : {1, 2, 8, 50}) {
        const StudyOptions options = options_of(schedule, 40, parallel);
        const Decisions first = run_study(options, *search, fake_with_faults);
        ASSERT_EQ(first.trials.size(), 40U);
        for (std::uint64_t order = 1; order <= 12; ++order) {
          ASSERT_EQ(run_study(options, *search, fake_with_faults, order).text(), first.text())
              << name << " " << to_string(schedule) << ", parallel " << parallel << ", order " << order;
        }
        of_parallel.insert(first.text());
      }
      const bool differs = name == "tpe" || schedule != Schedule::kNone;
      EXPECT_EQ(of_parallel.size() > 1, differs) << name << " " << to_string(schedule);
    }
  }
}

TEST(Study, BeginsAsManyStepsAsAreAssumedToBeUnderWay) {
  const auto search = study_search();
  EXPECT_EQ(run_study(options_of(Schedule::kAsha, 40, 1), *search, fake).n_most_to_do, 1U);
  EXPECT_EQ(run_study(options_of(Schedule::kAsha, 40, 8), *search, fake).n_most_to_do, 8U);
  EXPECT_EQ(run_study(options_of(Schedule::kAsha, 40, 50), *search, fake).n_most_to_do, 40U);
}

TEST(Study, ShowsTheSearchTrialsUnderWayAsFailed) {
  /// Takes down what it sees before each trial.
  class Watching : public Search {
   public:
    Json suggest(std::size_t trial, const std::vector<Observation>& seen) const override {
      std::vector<bool>& failed = failed_of.emplace_back(trial);
      EXPECT_EQ(seen.size(), trial) << "all trials before";
      for (const Observation& observation : seen) failed.at(observation.trial) = std::isnan(observation.loss);
      return {{"x", static_cast<double>(trial) / 10}};
    }
    mutable std::vector<std::vector<bool>> failed_of;
  };
  const Watching search;
  StudyOptions options = options_of(Schedule::kNone, 6);
  options.parallel = 3;
  run_study(options, search, fake);
  ASSERT_EQ(search.failed_of.size(), 6U);
  EXPECT_EQ(search.failed_of[2], (std::vector{true, true}));
  EXPECT_EQ(search.failed_of[3], (std::vector{false, true, true})) << "after the first result";
  EXPECT_EQ(search.failed_of[5], (std::vector{false, false, false, true, true}));
}

TEST(Study, HasRungsUpToAllRounds) {
  const auto rungs = [](std::size_t least, std::size_t most, std::size_t eta, Schedule schedule = Schedule::kAsha) {
    return rungs_of({.schedule = schedule, .eta = eta, .least_budget = least, .most_budget = most});
  };
  EXPECT_EQ(rungs(1, 27, 3), (std::vector<std::size_t>{1, 3, 9, 27}));
  EXPECT_EQ(rungs(4, 100, 3), (std::vector<std::size_t>{4, 12, 34, 100}));
  EXPECT_EQ(rungs(5, 100, 3), (std::vector<std::size_t>{12, 34, 100}));
  EXPECT_EQ(rungs(1, 100, 3), (std::vector<std::size_t>{1, 2, 4, 12, 34, 100}));
  EXPECT_EQ(rungs(1, 100, 100), (std::vector<std::size_t>{1, 100}));
  EXPECT_EQ(rungs(1, 1, 2), (std::vector<std::size_t>{1}));
  EXPECT_EQ(rungs(1, 2, 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(rungs(7, 7, 2), (std::vector<std::size_t>{7}));
  EXPECT_EQ(rungs(1, 27, 3, Schedule::kNone), (std::vector<std::size_t>{27}));
  EXPECT_EQ(rungs(1, 27, 3, Schedule::kHalving), (std::vector<std::size_t>{1, 3, 9, 27}));
}

TEST(Study, AshaTrainsAThirdOfTrialsThreeTimesLonger) {
  const Decisions found = run_study(options_of(Schedule::kAsha, 81), *study_search(), fake);
  ASSERT_EQ(found.rungs, (std::vector<std::size_t>{1, 3, 9, 27}));
  EXPECT_EQ(found.n_on(0), 81U);
  // Some are promoted that turn out later not to be among the best third: at least the third is.
  for (std::size_t rung = 1; rung < 4; ++rung) {
    EXPECT_GE(found.n_on(rung), found.n_on(rung - 1) / 3) << rung;
    EXPECT_LE(found.n_on(rung), found.n_on(rung - 1) * 2 / 3) << rung;
  }
  for (std::size_t rung = 0; rung < 3; ++rung) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < found.trials.size(); ++i) {
      if (found.trials[i].done.size() > rung) order.emplace_back(found.trials[i].done[rung].second.loss, i);
    }
    std::ranges::sort(order);
    for (std::size_t k = 0; k < order.size() / 3; ++k) {
      EXPECT_GT(found.trials[order[k].second].done.size(), rung + 1) << "rung " << rung << ", place " << k;
    }
  }
  for (const Trial& trial : found.trials) {
    EXPECT_EQ(trial.state, trial.done.size() == 4 ? Trial::State::kComplete : Trial::State::kPaused);
    for (std::size_t rung = 0; rung < trial.done.size(); ++rung) {
      const Step& step = trial.done[rung].first;
      EXPECT_EQ(step.rung, rung);
      EXPECT_EQ(step.budget, found.rungs[rung]);
      EXPECT_EQ(step.from, rung == 0 ? 0 : found.rungs[rung - 1]);
    }
  }
}

TEST(Study, HyperbandDealsTrialsToBracketsOfTheSizesOfItsPaper) {
  const StudyOptions options = options_of(Schedule::kHyperband);
  const auto sizes = [&](std::size_t n_trials) {
    const std::vector<std::size_t> first_rungs = first_rungs_of(options, n_trials);
    std::vector<std::ptrdiff_t> of_brackets;
    for (std::size_t rung = 0; rung < 4; ++rung) of_brackets.push_back(std::ranges::count(first_rungs, rung));
    return of_brackets;
  };
  EXPECT_EQ(sizes(49), (std::vector<std::ptrdiff_t>{27, 12, 6, 4}));
  EXPECT_EQ(sizes(98), (std::vector<std::ptrdiff_t>{54, 24, 12, 8}));
  EXPECT_EQ(sizes(1), (std::vector<std::ptrdiff_t>{1, 0, 0, 0}));
  const auto all = first_rungs_of(options, 49);
  const auto few = first_rungs_of(options, 20);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  EXPECT_EQ(first_rungs_of(options_of(Schedule::kAsha), 5), std::vector<std::size_t>(5, 0));
}

TEST(Study, HyperbandPromotesWithinBrackets) {
  const StudyOptions options = options_of(Schedule::kHyperband, 98);
  const Decisions found = run_study(options, *study_search(), fake);
  const std::vector<std::size_t> first_rungs = first_rungs_of(options, 98);
  for (std::size_t bracket = 0; bracket < 4; ++bracket) {
    std::vector<std::size_t> n_on(4, 0);
    for (std::size_t i = 0; i < 98; ++i) {
      if (first_rungs[i] != bracket) continue;
      const auto& done = found.trials[i].done;
      EXPECT_EQ(done.front().first.rung, bracket);
      EXPECT_EQ(done.front().first.from, 0U);
      for (std::size_t k = 0; k < done.size(); ++k) {
        EXPECT_EQ(done[k].first.budget, found.rungs[bracket + k]);
        ++n_on[bracket + k];
      }
    }
    for (std::size_t rung = bracket; rung < 3; ++rung) {
      EXPECT_GE(n_on[rung + 1], n_on[rung] / 3) << "bracket " << bracket << ", rung " << rung;
      EXPECT_LT(n_on[rung + 1], n_on[rung]) << "bracket " << bracket << ", rung " << rung;
    }
  }
}

TEST(Study, AtLeastOneTrialReachesTheEnd) {
  for (const Schedule schedule : kAllSchedules) {
    for (const std::size_t n_trials : {1, 2, 3, 5, 8}) {
      const Decisions found = run_study(options_of(schedule, n_trials), *study_search(), fake);
      ASSERT_TRUE(found.best);
      EXPECT_EQ(found.trials[*found.best].state, Trial::State::kComplete);
      EXPECT_EQ(found.trials[*found.best].done.back().first.budget, 27U) << to_string(schedule) << n_trials;
    }
  }
}

TEST(Study, TheBestIsThatOfLeastLossAmongThoseTrainedToTheEnd) {
  for (const Schedule schedule : kAllSchedules) {
    const Decisions found = run_study(options_of(schedule), *study_search(), fake_with_faults);
    ASSERT_TRUE(found.best);
    for (const Trial& trial : found.trials) {
      if (trial.state == Trial::State::kComplete) {
        EXPECT_LE(found.trials[*found.best].loss(), trial.loss());
      }
    }
    EXPECT_EQ(found.trials[*found.best].state, Trial::State::kComplete);
  }
  const Decisions equal = run_study(options_of(Schedule::kNone), *study_search(), [](const Step& step) {
    return StepResult{.loss = step.trial < 4 ? 2.0 : 1.0, .facts = {}};
  });
  EXPECT_EQ(equal.best, 4U) << "of equal ones the first";
}

TEST(Study, FailedAndEndedTrialsAreNotTrainedFurther) {
  for (const Schedule schedule : kAllSchedules) {
    const Decisions found = run_study(options_of(schedule), *study_search(), fake_with_faults);
    for (std::size_t i = 0; i < found.trials.size(); ++i) {
      const Trial& trial = found.trials[i];
      if (i % 7 == 3) {
        EXPECT_EQ(trial.state, Trial::State::kFailed);
        EXPECT_EQ(trial.done.size(), 1U);
        EXPECT_NE(found.best, i);
      }
      if (i % 7 == 5) {
        EXPECT_LE(trial.done.size(), 2U);
      }
      if (i % 7 == 5 && trial.done.back().second.ended) {
        EXPECT_EQ(trial.state, Trial::State::kComplete);
      }
    }
  }
}

TEST(Study, WhereAllFailNoneIsTheBest) {
  for (const Schedule schedule : kAllSchedules) {
    const Decisions found = run_study(options_of(schedule), *study_search("tpe"), [](const Step&) {
      return StepResult{.loss = kNoLoss, .ended = true, .facts = {}};
    });
    EXPECT_EQ(found.trials.size(), 40U);
    EXPECT_EQ(found.best, std::nullopt);
    EXPECT_EQ(found.listened.size(), 40U);
  }
}

TEST(Study, ATrialThatFailsLaterIsNotTheBest) {
  const Decisions found = run_study(options_of(Schedule::kAsha), *study_search(), [](const Step& step) {
    return StepResult{
        .loss = step.rung > 0 ? kNoLoss : static_cast<double>(step.trial), .ended = step.rung > 0, .facts = {}};
  });
  ASSERT_TRUE(found.best) << "those that were measured once are there";
  EXPECT_EQ(found.trials[*found.best].state, Trial::State::kPaused);
}

TEST(Study, HalvingPromotesOnceARungIsFull) {
  const StudyOptions options = options_of(Schedule::kHalving, 27, 4);
  const auto search = study_search();
  std::vector<std::size_t> budgets;
  Study study(options, *search,
              [&](const Trial&, const Step& step, const StepResult&) { budgets.push_back(step.budget); });
  while (!study.to_do().empty()) {
    const Step step = study.to_do().back();
    study.report(step, fake(step));
  }
  std::vector<std::size_t> expected(27, 1);
  expected.insert(expected.end(), 9, 3);
  expected.insert(expected.end(), 3, 9);
  expected.insert(expected.end(), 1, 27);
  EXPECT_EQ(budgets, expected);
}

TEST(Study, NoScheduleTrainsAllToTheEnd) {
  const Decisions found = run_study(options_of(Schedule::kNone), *study_search(), fake);
  EXPECT_EQ(found.listened.size(), 40U);
  for (const Trial& trial : found.trials) {
    EXPECT_EQ(trial.state, Trial::State::kComplete);
    EXPECT_EQ(trial.done.at(0).first.budget, 27U);
  }
}

TEST(Study, MedianTrainsTheBetterHalfFurther) {
  // In the order of trials, each is better than all before, or worse.
  for (const bool is_better : {true, false}) {
    const Decisions found = run_study(options_of(Schedule::kMedian, 32, 1), *study_search(), [&](const Step& step) {
      const auto place = static_cast<double>(step.trial);
      return StepResult{.loss = is_better ? -place : place, .facts = {}};
    });
    EXPECT_EQ(found.n_on(1), is_better ? 32U : 16U);
    EXPECT_EQ(found.best, is_better ? 31U : 0U);
  }
}

TEST(Study, AGridEndsWithItsSettings) {
  const auto grid = search_called("grid", Space::from_toml("x = [0.1, 0.2, 0.3]\ny = [1, 2]", "space.toml"), 0);
  const Decisions found = run_study(options_of(Schedule::kAsha, 1000), *grid, fake);
  EXPECT_EQ(found.trials.size(), 6U);
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.trials[*found.best].setting.at("x"), 0.3);
  EXPECT_EQ(Study(options_of(Schedule::kAsha, 4), *grid).n_trials(), 4U);
}

TEST(Study, OptionsOutOfRangeAreRefused) {
  const auto search = study_search();
  const auto refusal = [&](StudyOptions options) -> std::string {
    try {
      Study(options, *search);
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal({.n_trials = 0}), "trials is 0, allowed is 1 to 1000000");
  EXPECT_EQ(refusal({.n_trials = 1'000'001}), "trials is 1000001, allowed is 1 to 1000000");
  EXPECT_EQ(refusal({.eta = 1}), "eta is 1, allowed is 2 to 100");
  EXPECT_EQ(refusal({.eta = 101}), "eta is 101, allowed is 2 to 100");
  EXPECT_EQ(refusal({.least_budget = 0}), "first-after is 0, allowed is 1 to 1");
  EXPECT_EQ(refusal({.least_budget = 6, .most_budget = 5}), "first-after is 6, allowed is 1 to 5");
  EXPECT_EQ(refusal({.parallel = 0}), "parallel is 0, allowed is 1 to 10000");
  EXPECT_EQ(refusal({}), "accepted");
}

TEST(Study, AResultOfNoStepIsAnError) {
  const auto search = study_search();
  Study study(options_of(Schedule::kAsha), *search);
  const Step step = study.to_do().front();
  study.report(step, fake(step));
  EXPECT_THROW(study.report(step, fake(step)), Error);
}

}  // namespace
}  // namespace podere::tune
