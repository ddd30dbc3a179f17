#include "podere/tune/kept_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "podere/base/error.h"

namespace podere::tune {
namespace {

/// Throws InputError that names in what the study of a file is another.
void check_same_study(const Json& was, const Json& is, const std::string& path) {
  for (const auto& [name, value] : is.items()) {
    const Json old = was.value(name, Json());
    if (old == value) continue;
    const bool is_short = old.is_primitive() && value.is_primitive() && name.find("values") == std::string::npos;
    throw_input_error("{}: is a study with other {}{}; give another file, or the same search", path, name,
                      is_short ? fmt::format(" ({}, not {})", old.dump(), value.dump()) : "");
  }
}

RecordedTrial::State recorded_state(Trial::State state) {
  switch (state) {
    case Trial::State::kComplete:
      return RecordedTrial::State::kComplete;
    case Trial::State::kFailed:
      return RecordedTrial::State::kFailed;
    case Trial::State::kPaused:
      return RecordedTrial::State::kPruned;
    case Trial::State::kRunning:
      break;
  }
  return RecordedTrial::State::kRunning;
}

}  // namespace

KeptStudy::KeptStudy(const StudyOptions& options, const Search& search, StudyHead head, std::string path,
                     const std::string& recorded, std::unique_ptr<StudyWriter> writer)
    : head_(std::move(head)),
      path_(std::move(path)),
      writer_(std::move(writer)),
      study_(options, search,
             [this](const Trial& trial, const Step& step, const StepResult& result) { note(trial, step, result); }) {
  if (recorded.empty()) {
    if (writer_) writer_->begin(head_);
    return;
  }
  RecordedStudy read = study_from_text(recorded, path_);
  check_same_study(read.head.run, head_.run, path_);
  trials_ = std::move(read.trials);
  report_recorded();
}

void KeptStudy::report(const Step& step, StepResult result) {
  study_.report(step, std::move(result));
  report_recorded();
}

/// What the journal has of the steps to be done. It may have others than the first of them: with more trials than
/// before, steps can come in between.
void KeptStudy::report_recorded() {
  for (bool has_reported = true; has_reported;) {
    has_reported = false;
    for (const Step& step : study_.to_do()) {
      const auto result = recorded(step);
      if (!result) continue;
      study_.report(step, *result);
      has_reported = true;
    }
  }
  if (study_.to_do().empty()) end_paused();
}

std::optional<StepResult> KeptStudy::recorded(const Step& step) const {
  if (step.trial >= trials_.size()) return std::nullopt;
  const RecordedTrial& trial = trials_[step.trial];
  if (trial.done.empty()) return std::nullopt;  // it was begun, as one behind it was measured before
  if (trial.setting != step.setting) {
    throw_input_error(
        "{}: its trial {} has another setting than this search gives it, as of another version: give another file",
        path_, step.trial);
  }
  const auto found = trial.done.find(step.budget);
  return found == trial.done.end() ? std::nullopt : std::optional(found->second);
}

void KeptStudy::note(const Trial& trial, const Step& step, const StepResult& result) {
  if (!writer_) return;
  if (!recorded(step)) writer_->note(step, result, head_.is_maximized);
  if (trial.state == Trial::State::kComplete || trial.state == Trial::State::kFailed) end(step.trial);
}

void KeptStudy::end(std::size_t trial) {
  const Trial& ended = study_.trials()[trial];
  const RecordedTrial::State state = recorded_state(ended.state);
  if (trial < trials_.size() && trials_[trial].state == state) return;
  writer_->end(trial, state, head_.is_maximized ? -ended.loss() : ended.loss());
}

/// Trials that are not trained further.
void KeptStudy::end_paused() {
  if (!writer_) return;
  for (std::size_t i = 0; i < study_.trials().size(); ++i) {
    if (study_.trials()[i].state == Trial::State::kPaused) end(i);
  }
}

Json trial_json(std::size_t trial, const std::string& state, const Json& setting,
                const std::map<std::size_t, StepResult>& done, bool is_maximized) {
  const auto score = [&](const StepResult& result) {
    return std::isfinite(result.loss) ? Json(is_maximized ? -result.loss : result.loss) : Json();
  };
  Json curve = Json::array();
  for (const auto& [budget, result] : done) curve.push_back(Json::array({budget, score(result)}));
  std::size_t budget = 0;
  StepResult shown{.loss = std::numeric_limits<double>::quiet_NaN(), .facts = Json::object()};
  if (!done.empty()) {
    const bool has_failed = std::isnan(done.rbegin()->second.loss);
    std::tie(budget, shown) =
        has_failed ? *done.rbegin()
                   : *std::ranges::min_element(done, {}, [](const auto& one) { return one.second.loss; });
  }
  return {{"trial", trial},     {"state", state},       {"score", score(shown)},    {"budget", budget},
          {"setting", setting}, {"facts", shown.facts}, {"curve", std::move(curve)}};
}

Json trial_json(std::size_t trial, const Trial& of, bool is_maximized) {
  std::map<std::size_t, StepResult> done;
  for (const auto& [step, result] : of.done) done.emplace(step.budget, result);
  return trial_json(trial, to_string(of.state), of.setting, done, is_maximized);
}

Json trials_json(const Study& study, bool is_maximized) {
  Json trials = Json::array();
  for (std::size_t i = 0; i < study.trials().size(); ++i) {
    if (!study.trials()[i].done.empty()) trials.push_back(trial_json(i, study.trials()[i], is_maximized));
  }
  return trials;
}

}  // namespace podere::tune
