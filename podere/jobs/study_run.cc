#include "podere/jobs/study_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "podere/base/error.h"
#include "podere/comm/work_pool.h"
#include "podere/jobs/checkpoint.h"

namespace podere::jobs {
namespace {

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

/// Throws InputError that names in what the study of a file is another.
void check_same_study(const Json& was, const Json& is, const std::string& path) {
  for (const auto& [name, value] : is.items()) {
    if (was.value(name, Json()) == value) continue;
    const Json old = was.value(name, Json());
    const bool is_short = old.is_primitive() && value.is_primitive() && name.find("values") == std::string::npos;
    throw_input_error("{}: is a study with other {}{}; give another file, or the same search", path, name,
                      is_short ? fmt::format(" ({}, not {})", old.dump(), value.dump()) : "");
  }
}

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
  StudyProgress(Progress& next, const tune::Study& study, bool is_maximized)
      : PausedAnywhere(next), study_(study), is_maximized_(is_maximized) {}

  void report(const ProgressStep& step) override {
    if (step.phase == "train") report_trials();
  }
  void report_trials() {
    const auto n_measured = static_cast<std::size_t>(
        std::ranges::count_if(study_.trials(), [](const tune::Trial& trial) { return !trial.done.empty(); }));
    ProgressStep shown{"tune", n_measured, study_.n_trials(), {}, "trial"};
    if (const auto best = study_.best()) {
      const double loss = study_.trials()[*best].loss();
      shown.metrics.emplace_back("best", is_maximized_ ? -loss : loss);
    }
    PausedAnywhere::report(shown);
  }

 private:
  const tune::Study& study_;
  const bool is_maximized_;
};

StudyRun::StudyRun(const StudyFacts& facts, const tune::Space& space, const tune::StudyOptions& options,
                   const JobContext& context)
    : path_(facts.file),
      is_maximized_(is_maximized(facts.score)),
      most_seconds_(facts.most_seconds),
      context_(context),
      search_(tune::search_called(facts.search, space, facts.seed)),
      study_(options, *search_,
             [this](const tune::Trial& trial, const tune::Step& step, const tune::StepResult& result) {
               note(trial, step, result);
             }) {
  context.comm.agree([&] {
    if (!context.comm.is_root() || path_.empty()) return;
    check_is_place_for_checkpoint(path_, "study");
    writer_.emplace(path_, space);
  });
  share_recorded(facts.algorithm, facts.identity);
}

bool StudyRun::run_in_turn(const Trials& trials) {
  StudyProgress progress(context_.progress, study_, is_maximized_);
  std::map<std::size_t, PausedTrial> paused;
  report_recorded();
  progress.report_trials();
  while (!study_.to_do().empty()) {
    const tune::Step step = study_.to_do().front();
    std::int32_t is_over = is_out_of_time() ? 1 : 0;
    context_.comm.broadcast(std::span(&is_over, 1));
    if (is_over != 0) break;
    std::optional<tune::StepResult> result =
        trials.run(step, paused[step.trial], {context_.comm, context_.n_threads, progress});
    if (!result) return false;
    ++n_steps_;
    if (result->ended || step.budget == study_.rungs().back()) paused.erase(step.trial);
    study_.report(step, *std::move(result));
    report_recorded();
    progress.report_trials();
  }
  if (study_.to_do().empty()) end_paused();
  return true;
}

/// Rank 0's part of steps side by side.
class StudyRun::Pool {
 public:
  Pool(StudyRun& run, StudyProgress& progress) : run_(run), progress_(progress) {}

  std::optional<std::string> next() {
    if (run_.is_out_of_time()) return std::nullopt;
    for (const tune::Step& step : run_.study_.to_do()) {
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
    if (!result.ended && step.budget != run_.study_.rungs().back()) paused_[step.trial] = json.at(2);
    done_.push_back({json.at(0), json.at(1)});
    ++run_.n_steps_;
    run_.study_.report(step, result);
    run_.report_recorded();
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
      ++run_.n_steps_;
      run_.study_.report(step_of(done.at(0)), result_of(done.at(1)));
      run_.report_recorded();
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
  const auto alone = comm::Communicator::self();
  StudyProgress progress(context_.progress, study_, is_maximized_);
  Pool pool(*this, progress);
  report_recorded();
  progress.report_trials();
  comm::work_pool(context_.comm, context_.n_threads,
                  {.next = [&] { return pool.next(); },
                   .work =
                       [&](const std::string& task, const std::atomic<bool>& is_stopping) {
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
  if (study_.to_do().empty()) end_paused();
  return true;
}

/// What an earlier run left. Collective.
void StudyRun::share_recorded(const std::string& algorithm, const Json& identity) {
  const std::string text = context_.comm.broadcast_text(writer_ ? writer_->text() : "");
  if (text.empty()) {
    if (writer_) writer_->begin({"podere tune " + algorithm, is_maximized_, identity});
    return;
  }
  context_.comm.agree([&] {
    const tune::RecordedStudy read = tune::study_from_text(text, path_);
    check_same_study(read.head.run, identity, path_);
    trials_ = read.trials;
  });
}

/// What the file has of the steps to be done.
void StudyRun::report_recorded() {
  for (bool has_found = true; has_found;) {
    has_found = false;
    for (const tune::Step& step : study_.to_do()) {
      const auto result = recorded(step);
      if (!result) continue;
      study_.report(step, *result);
      has_found = true;
      break;
    }
  }
}

std::optional<tune::StepResult> StudyRun::recorded(const tune::Step& step) const {
  if (step.trial >= trials_.size()) return std::nullopt;
  const tune::RecordedTrial& trial = trials_[step.trial];
  if (trial.setting != step.setting) {
    throw_input_error(
        "{}: its trial {} has another setting than this search gives it, as of another version: give "
        "another file",
        path_, step.trial);
  }
  const auto found = trial.done.find(step.budget);
  return found == trial.done.end() ? std::nullopt : std::optional(found->second);
}

bool StudyRun::is_recorded(std::size_t trial, tune::RecordedTrial::State state) const {
  return trial < trials_.size() && trials_[trial].state == state;
}

void StudyRun::note(const tune::Trial& trial, const tune::Step& step, const tune::StepResult& result) {
  if (!writer_) return;
  if (!recorded(step)) writer_->note(step, result, is_maximized_);
  const bool is_over = trial.state == tune::Trial::State::kComplete || trial.state == tune::Trial::State::kFailed;
  if (is_over) end(step.trial);
  warn_of_fault();
}

void StudyRun::end(std::size_t trial) {
  const tune::Trial& of = study_.trials()[trial];
  const auto state = of.state == tune::Trial::State::kComplete ? tune::RecordedTrial::State::kComplete
                     : of.state == tune::Trial::State::kFailed ? tune::RecordedTrial::State::kFailed
                                                               : tune::RecordedTrial::State::kPruned;
  if (is_recorded(trial, state)) return;
  writer_->end(trial, state, is_maximized_ ? -of.loss() : of.loss());
}

/// Trials that are not trained further.
void StudyRun::end_paused() {
  if (!writer_) return;
  for (std::size_t i = 0; i < study_.trials().size(); ++i) {
    if (study_.trials()[i].state == tune::Trial::State::kPaused) end(i);
  }
  warn_of_fault();
}

void StudyRun::warn_of_fault() {
  if (writer_->fault().empty() || std::exchange(has_warned_, true)) return;
  context_.progress.warn(fmt::format("{}: {}; the search continues, and what it finds is written once that is possible",
                                     path_, writer_->fault()));
}

}  // namespace podere::jobs
