#include "podere/tune/study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "podere/base/error.h"

namespace podere::tune {
namespace {

void check_range(const char* name, std::size_t value, std::size_t least, std::size_t most) {
  if (value < least || value > most) throw_input_error("{} is {}, allowed is {} to {}", name, value, least, most);
}

void check_study(const StudyOptions& options) {
  check_range("trials", options.n_trials, 1, 1'000'000);
  check_range("eta", options.eta, 2, 100);
  check_range("parallel", options.parallel, 1, 10'000);
  check_range("first-after", options.least_budget, 1, options.most_budget);
}

/// Failed ones last.
double rank_of(double loss) { return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss; }

}  // namespace

const std::pair<Step, StepResult>& Trial::best() const {
  return *std::ranges::min_element(done, {}, [](const auto& one) { return rank_of(one.second.loss); });
}

double Trial::loss() const {
  if (done.empty() || state == State::kFailed) return std::numeric_limits<double>::quiet_NaN();
  return best().second.loss;
}

std::vector<std::size_t> rungs_of(const StudyOptions& options) {
  std::vector<std::size_t> rungs = {options.most_budget};
  if (options.schedule == Schedule::kNone) return rungs;
  std::size_t divisor = options.eta;
  while (true) {
    const std::size_t budget = (options.most_budget + divisor - 1) / divisor;
    if (budget < options.least_budget || budget >= rungs.back()) break;
    rungs.push_back(budget);
    divisor *= options.eta;
  }
  std::ranges::reverse(rungs);
  return rungs;
}

std::vector<std::size_t> first_rungs_of(const StudyOptions& options, std::size_t n_trials) {
  std::vector<std::size_t> first_rungs(n_trials, 0);
  if (options.schedule != Schedule::kHyperband) return first_rungs;
  const std::size_t n_rungs = rungs_of(options).size();
  std::vector<double> shares(n_rungs);
  double n_promoted = 1;  // from the bracket's first rung to one at the end
  for (std::size_t rung = n_rungs; rung-- > 0; n_promoted *= static_cast<double>(options.eta)) {
    shares[rung] = std::ceil(static_cast<double>(n_rungs) * n_promoted / static_cast<double>(n_rungs - rung));
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<double> n_of(n_rungs, 0);
  for (std::size_t trial = 0; trial < n_trials; ++trial) {
    const auto lack = [&](std::size_t rung) {
      return shares[rung] * static_cast<double>(trial + 1) - n_of[rung] * all;
    };
    std::size_t most = 0;
    for (std::size_t rung = 1; rung < n_rungs; ++rung) most = lack(rung) > lack(most) ? rung : most;
    ++n_of[most];
    first_rungs[trial] = most;
  }
  return first_rungs;
}

Study::Study(const StudyOptions& options, const Search& search, Listener listener)
    : options_(options), search_(search), listener_(std::move(listener)), n_trials_(options.n_trials) {
  check_study(options);
  if (const auto most = search.n_most()) n_trials_ = std::min(n_trials_, *most);
  rungs_ = rungs_of(options);
  bracket_of_ = first_rungs_of(options, n_trials_);
  for (std::size_t rung = 0; rung < rungs_.size(); ++rung) {
    brackets_.push_back({.first_rung = rung,
                         .n_trials = static_cast<std::size_t>(std::ranges::count(bracket_of_, rung)),
                         .measured = std::vector<std::vector<std::size_t>>(rungs_.size()),
                         .n_promoted = std::vector<std::size_t>(rungs_.size(), 0)});
  }
  is_promoted_.assign(rungs_.size(), std::vector<bool>(n_trials_, false));
  fill();
}

std::vector<Step> Study::to_do() const {
  std::vector<Step> steps;
  for (const auto& [when, under_way] : on_) {
    if (!under_way.result) steps.push_back(under_way.step);
  }
  return steps;
}

void Study::report(const Step& step, StepResult result) {
  const auto found = std::ranges::find_if(on_, [&](const auto& entry) {
    return entry.second.step.trial == step.trial && entry.second.step.rung == step.rung;
  });
  if (found == on_.end()) throw_error("a result of trial {} that is not under way", step.trial);
  found->second.result = std::move(result);
  look_at_results();
}

/// As far as they are there.
void Study::look_at_results() {
  while (!on_.empty() && on_.begin()->second.result) {
    const auto first = on_.extract(on_.begin());
    now_ = first.key().first;
    take(first.mapped().step, *first.mapped().result);
    fill();
  }
}

void Study::take(const Step& step, const StepResult& result) {
  Trial& trial = trials_[step.trial];
  const bool has_failed = std::isnan(result.loss);
  trial.done.emplace_back(step, result);
  const bool is_whole = step.rung + 1 == rungs_.size() || result.ended;
  trial.state = has_failed ? Trial::State::kFailed : is_whole ? Trial::State::kComplete : Trial::State::kPaused;
  brackets_[bracket_of_[step.trial]].measured[step.rung].push_back(step.trial);
  const auto known = std::ranges::find(seen_, step.trial, &Observation::trial);
  Observation observation{step.trial, trial.setting, result.loss, result.ended ? rungs_.back() : step.budget};
  if (known == seen_.end()) {
    seen_.push_back(std::move(observation));
  } else {
    *known = std::move(observation);
  }
  if (listener_) listener_(trial, step, result);
}

void Study::fill() {
  while (on_.size() < options_.parallel) {
    const std::optional<Step> step = next();
    if (!step) return;
    on_[{now_ + step->budget - step->from, step->trial}] = {*step, std::nullopt};
  }
}

/// The promotion on the highest rung, else a new trial.
std::optional<Step> Study::next() {
  for (std::size_t rung = rungs_.size() - 1; rung-- > 0;) {
    for (Bracket& bracket : brackets_) {
      const auto trial = promoted_from(bracket, rung);
      if (!trial) continue;
      is_promoted_[rung][*trial] = true;
      ++bracket.n_promoted[rung];
      trials_[*trial].state = Trial::State::kRunning;
      return Step{*trial, rung + 1, rungs_[rung], rungs_[rung + 1], trials_[*trial].setting};
    }
  }
  const std::size_t trial = trials_.size();
  if (trial == n_trials_) return std::nullopt;
  trials_.push_back({.setting = suggest(trial), .done = {}});
  const std::size_t rung = bracket_of_[trial];
  return Step{trial, rung, 0, rungs_[rung], trials_[trial].setting};
}

/// By the results so far. Trials without one are passed as failed, which keeps the search from their settings.
Json Study::suggest(std::size_t trial) {
  const std::size_t n_seen = seen_.size();
  for (const auto& [when, under_way] : on_) {
    const Step& step = under_way.step;
    if (step.from == 0) seen_.push_back({step.trial, step.setting, std::numeric_limits<double>::quiet_NaN(), 0});
  }
  Json setting = search_.suggest(trial, seen_);
  seen_.resize(n_seen);
  return setting;
}

/// How many of the bracket's trials measured on the rung are to be trained further.
std::size_t Study::n_promoted_of(const Bracket& bracket, std::size_t rung) const {
  const std::size_t n_measured = bracket.measured[rung].size();
  switch (options_.schedule) {
    case Schedule::kNone:
      return 0;
    case Schedule::kAsha:
    case Schedule::kHyperband:
      return std::max<std::size_t>(n_measured / options_.eta, is_full(bracket, rung) ? 1 : 0);
    case Schedule::kMedian:
      return (n_measured + 1) / 2;
    case Schedule::kHalving:
      return is_full(bracket, rung) ? std::max<std::size_t>(1, n_measured / options_.eta) : 0;
  }
  return 0;
}

/// Whether no more of the bracket's trials come to the rung.
bool Study::is_full(const Bracket& bracket, std::size_t rung) const {
  const std::size_t n_measured = bracket.measured[rung].size();
  if (rung <= bracket.first_rung) return n_measured == (rung == bracket.first_rung ? bracket.n_trials : 0);
  return n_measured == bracket.n_promoted[rung - 1] && is_full(bracket, rung - 1) && !promoted_from(bracket, rung - 1);
}

std::optional<std::size_t> Study::promoted_from(const Bracket& bracket, std::size_t rung) const {
  std::vector<std::size_t> order = bracket.measured[rung];
  const auto loss_there = [&](std::size_t trial) {
    const auto& done = trials_[trial].done;
    const auto found = std::ranges::find_if(done, [&](const auto& one) { return one.first.rung == rung; });
    return rank_of(found->second.loss);
  };
  std::ranges::sort(order, {}, [&](std::size_t trial) { return std::pair(loss_there(trial), trial); });
  order.resize(std::min(order.size(), n_promoted_of(bracket, rung)));
  const auto found = std::ranges::find_if(order, [&](std::size_t trial) {
    return !is_promoted_[rung][trial] && trials_[trial].state == Trial::State::kPaused;
  });
  return found == order.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::size_t> Study::best() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const double loss = trials_[i].loss();
    if (!std::isnan(loss) && (!best || loss < trials_[*best].loss())) best = i;
  }
  return best;
}

}  // namespace podere::tune
