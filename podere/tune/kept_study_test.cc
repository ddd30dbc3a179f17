#include "podere/tune/kept_study.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

TEST(TrialJson, HasTheScoreAfterEachStepAndTheFactsOfTheBest) {
  const std::map<std::size_t, StepResult> done = {{1, {.loss = -0.6, .facts = {{"trees", 1}}}},
                                                  {3, {.loss = -0.8, .facts = {{"trees", 3}}}},
                                                  {9, {.loss = -0.7, .facts = {{"trees", 9}}}}};
  const Json trial = trial_json(5, "complete", {{"depth", 4}}, done, true);
  EXPECT_EQ(trial, Json::parse(R"({"trial": 5, "state": "complete", "score": 0.8, "budget": 3, "setting": {"depth": 4},
                                   "facts": {"trees": 3}, "curve": [[1, 0.6], [3, 0.8], [9, 0.7]]})"));
  EXPECT_EQ(trial_json(5, "complete", {}, done, false).at("curve").at(2), Json::array({9, -0.7})) << "a loss";
}

TEST(TrialJson, OfAFailedTrialHasTheCauseAndWhatWasMeasuredBefore) {
  const std::map<std::size_t, StepResult> done = {
      {1, {.loss = 0.5, .facts = {{"trees", 1}}}},
      {3, {.loss = std::numeric_limits<double>::quiet_NaN(), .ended = true, .facts = {{"error", "diverged"}}}}};
  EXPECT_EQ(trial_json(0, "failed", {{"depth", 4}}, done, false),
            Json::parse(R"({"trial": 0, "state": "failed", "score": null, "budget": 3, "setting": {"depth": 4},
                            "facts": {"error": "diverged"}, "curve": [[1, 0.5], [3, null]]})"));
}

TEST(TrialsJson, HasEachStepThatTheStudyDid) {
  const auto search = random_search(Space::from_toml("x = { low = 0.0, high = 1.0 }", "space.toml"), 4);
  KeptStudy kept({.n_trials = 9, .eta = 2, .most_budget = 4, .parallel = 3}, *search, {}, "", "", nullptr);
  EXPECT_EQ(trials_json(kept.study(), false), Json::array()) << "before anything is measured";
  std::size_t n_steps = 0;
  for (; !kept.study().to_do().empty(); ++n_steps) {
    const Step step = kept.study().to_do().front();
    kept.report(step, {.loss = step.setting.at("x").get<double>() / static_cast<double>(step.budget), .facts = {}});
  }
  const Json trials = trials_json(kept.study(), false);
  ASSERT_EQ(trials.size(), 9U);
  for (const Json& trial : trials) {
    for (const Json& point : trial.at("curve")) {
      const double x = trial.at("setting").at("x").get<double>();
      EXPECT_EQ(point.at(1).get<double>(), x / point.at(0).get<double>());
      --n_steps;
    }
    EXPECT_EQ(trial.at("score"), trial.at("curve").back().at(1)) << "here the last is the best";
  }
  EXPECT_EQ(n_steps, 0U);
}

}  // namespace
}  // namespace podere::tune
