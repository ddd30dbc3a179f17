#include "podere/jobs/study_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/comm/work_pool.h"
#include "podere/jobs/checkpoint.h"

namespace podere::jobs {
namespace {

// Of reports to those who look on.
constexpr double kSecondsBetweenTrials = 0.05;
constexpr std::size_t kMostTrialsAtOnce = 500;

std::string to_bytes(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json to_json(const tune::Step& step) { return {step.trial, step.rung, step.from, step.budget, step.setting}; }
tune::Step step_of(const Json& json) {
  return {json.at(0).get<std::size_t>(), json.at(1).get<std::size_t>(), json.at(2).get<std::size_t>(),
          json.at(3).get<std::size_t>(), json.at(4)};
}
Json to_json(const tune::StepResult& result) { return {result.loss, result.ended, result.facts}; }
tune::StepResult result_of(const Json& json) { return {json.at(0).get<double>(), json.at(1).get<bool>(), json.at(2)}; }

/// Of a step that is one of many at the same time.
class StepProgress final : public Progress {
 public:
  explicit StepProgress(const std::atomic<bool>& is_stopping) : is_stopping_(is_stopping) {}
  bool stop_requested() override { return is_stopping_; }

 private:
  const std::atomic<bool>& is_stopping_;
};

}  // namespace

/// Reports of trainings as a part of the search.
class StudyRun::StudyProgress final : public PausedAnywhere {
 public:
  StudyProgress(Progress& next, const tune::Study& study, std::string score)
      : PausedAnywhere(next), study_(study), score_(std::move(score)), is_maximized_(is_maximized(score_)) {}

  void report(const ProgressStep& step) override {
    if (step.phase == "train") report_trials();
  }
  void warn(const std::string& /*message*/) override {}  // many trials would say the same
  void report_trials() {
    const auto n_measured = static_cast<std::size_t>(
        std::ranges::count_if(study_.trials(), [](const tune::Trial& trial) { return !trial.done.empty(); }));
    ProgressStep shown{"tune", n_measured, study_.n_trials(), {}, "trial"};
    if (const auto best = study_.best()) {
      const auto& [step, result] = study_.trials()[*best].best();
      if (score_.empty()) score_ = default_score(result.facts);
      shown.metrics.emplace_back("best", is_maximized_ ? -result.loss : result.loss);
    }
    const bool may_wait = since_trials_ && since_trials_->seconds() < kSecondsBetweenTrials && !study_.to_do().empty();
    if (Json changed = may_wait ? Json() : changed_trials(); !changed.empty()) {
      since_trials_.emplace();
      shown.search = {{"score", score_}, {"trials", std::move(changed)}};
    }
    PausedAnywhere::report(shown);
  }

 private:
  /// Since the last time, or the first of them.
  Json changed_trials() {
    Json changed = Json::array();
    known_.resize(study_.trials().size());
    for (std::size_t i = 0; i < known_.size() && changed.size() < kMostTrialsAtOnce; ++i) {
      const tune::Trial& trial = study_.trials()[i];
      const std::pair now(trial.state, trial.done.size());
      if (std::exchange(known_[i], now) != now) changed.push_back(tune::trial_json(i, trial, is_maximized_));
    }
    return changed;
  }

  const tune::Study& study_;
  std::string score_;  // empty: not known yet
  const bool is_maximized_;
  std::vector<std::optional<std::pair<tune::Trial::State, std::size_t>>> known_;  // state and steps done
  std::optional<Stopwatch> since_trials_;
};

StudyRun::StudyRun(const StudyFacts& facts, const tune::Space& space, const tune::StudyOptions& options,
                   const JobContext& context)
    : path_(facts.file),
      score_(facts.score),
      most_seconds_(facts.most_seconds),
      context_(context),
      search_(tune::search_called(facts.search, space, facts.seed)) {
  std::unique_ptr<tune::StudyWriter> writer;
  context.comm.agree([&] {
    if (!context.comm.is_root() || path_.empty()) return;
    check_is_place_for_checkpoint(path_, "study");
    writer = std::make_unique<tune::StudyWriter>(path_, space);
  });
  const std::string recorded = context.comm.broadcast_text(writer ? writer->text() : "");
  context.comm.agree([&] {
    kept_.emplace(options, *search_,
                  tune::StudyHead{"podere tune " + facts.algorithm, is_maximized(score_), facts.identity}, path_,
                  recorded, std::move(writer));
  });
}

bool StudyRun::run_in_turn(const Trials& trials) {
  StudyProgress progress(context_.progress, study(), score_);
  std::map<std::size_t, PausedTrial> paused;
  progress.report_trials();
  while (!study().to_do().empty()) {
    const tune::Step step = study().to_do().front();
    std::int32_t is_over = is_out_of_time() ? 1 : 0;
    context_.comm.broadcast(std::span(&is_over, 1));
    if (is_over != 0) break;
    std::optional<tune::StepResult> result =
        trials.run(step, paused[step.trial], {context_.comm, context_.n_threads, progress});
    if (!result) return false;
    if (result->ended || step.budget == study().rungs().back()) paused.erase(step.trial);
    report(step, *std::move(result));
    progress.report_trials();
  }
  return true;
}

/// Rank 0's part of steps side by side.
class StudyRun::Pool {
 public:
  Pool(StudyRun& run, StudyProgress& progress) : run_(run), progress_(progress) {}

  std::optional<std::string> next() {
    if (run_.is_out_of_time()) return std::nullopt;
    for (const tune::Step& step : run_.study().to_do()) {
      if (!at_work_.emplace(step.trial, step.budget).second) continue;
      return to_bytes({to_json(step), std::exchange(paused_[step.trial], Json())});
    }
    return std::nullopt;
  }

  void take(const std::string& bytes) {
    const Json json = Json::from_cbor(bytes);
    const tune::Step step = step_of(json.at(0));
    at_work_.erase({step.trial, step.budget});
    if (json.at(1).is_null()) {
      was_stopped_ = true;
      return;
    }
    const tune::StepResult result = result_of(json.at(1));
    if (!result.ended && step.budget != run_.study().rungs().back()) paused_[step.trial] = json.at(2);
    done_.push_back({json.at(0), json.at(1)});
    run_.report(step, result);
  }

  bool watch() {
    progress_.report_trials();
    if (!progress_.stop_requested()) return true;
    was_stopped_ = true;
    return false;
  }

  /// Has the other ranks take the same results in the same order. Collective.
  bool share() {
    const Json all = Json::from_cbor(run_.context_.comm.broadcast_text(to_bytes({was_stopped_, done_})));
    if (run_.context_.comm.is_root()) return !was_stopped_;
    for (const Json& done : all.at(1)) {
      run_.report(step_of(done.at(0)), result_of(done.at(1)));
    }
    return !all.at(0).get<bool>();
  }

 private:
  StudyRun& run_;
  StudyProgress& progress_;
  std::set<std::pair<std::size_t, std::size_t>> at_work_;  // trial, budget
  std::map<std::size_t, Json> paused_;
  Json done_ = Json::array();
  bool was_stopped_ = false;
};

bool StudyRun::run_side_by_side(const Trials& trials) {
  StudyProgress progress(context_.progress, study(), score_);
  Pool pool(*this, progress);
  progress.report_trials();
  comm::work_pool(context_.comm, context_.n_threads,
                  {.next = [&] { return pool.next(); },
                   .work =
                       [&](const std::string& task, const std::atomic<bool>& is_stopping) {
                         const auto alone = comm::Communicator::self();  // counts its traffic
                         const Json json = Json::from_cbor(task);
                         PausedTrial trial = PausedTrial::from_json(json.at(1));
                         StepProgress of_step(is_stopping);
                         const auto result = trials.run(step_of(json.at(0)), trial, {alone, 1, of_step});
                         return to_bytes({json.at(0), result ? to_json(*result) : Json(), trial.to_json()});
                       },
                   .take = [&](const std::string& result) { pool.take(result); },
                   .watch = [&] { return pool.watch(); }});
  if (!pool.share()) return false;
  progress.report_trials();
  return true;
}

void StudyRun::report(const tune::Step& step, tune::StepResult result) {
  ++n_steps_;
  kept_->report(step, std::move(result));
  warn_of_fault();
}

void StudyRun::warn_of_fault() {
  if (kept_->fault().empty() || std::exchange(has_warned_, true)) return;
  context_.progress.warn(fmt::format("{}: {}; the search continues, and what it finds is written once that is possible",
                                     path_, kept_->fault()));
}

}  // namespace podere::jobs
