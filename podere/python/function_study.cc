#include "podere/python/function_study.h"

#include <algorithm>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/tune/space.h"

namespace podere::python {
namespace {

/// By what a search differs from others: its steps must not be taken for theirs.
tune::StudyHead head_of(const FunctionSearch& of, const tune::Space& space) {
  return {.name = "podere.Study",
          .is_maximized = of.is_maximized,
          .run = {{"algorithm", "a Python function"},
                  {"score", "score"},
                  {"maximize", of.is_maximized},
                  {"space", space.to_json()},
                  {"search", of.search},
                  {"seed", of.seed},
                  {"schedule", to_string(of.study.schedule)},
                  {"eta", of.study.eta},
                  {"least budget", of.study.least_budget},
                  {"most budget", of.study.most_budget},
                  {"parallel trials", of.study.parallel}}};
}

}  // namespace

FunctionStudy::FunctionStudy(const FunctionSearch& of) : is_maximized_(of.is_maximized) {
  const tune::Space space = tune::Space::from_toml(of.space, "space");
  search_ = tune::search_called(of.search, space, of.seed);
  std::unique_ptr<tune::StudyWriter> writer;
  if (!of.journal.empty()) writer = std::make_unique<tune::StudyWriter>(of.journal, space);
  const std::string recorded = writer ? writer->text() : "";
  kept_ = std::make_unique<tune::KeptStudy>(of.study, *search_, head_of(of, space), of.journal, recorded,
                                            std::move(writer));
}

std::string FunctionStudy::to_do() const {
  const std::lock_guard lock(mutex_);
  check_open();
  Json steps = Json::array();
  for (const tune::Step& step : kept_->study().to_do()) {
    steps.push_back({{"trial", step.trial},
                     {"rung", step.rung},
                     {"start", step.from},
                     {"budget", step.budget},
                     {"setting", step.setting}});
  }
  return to_text(steps);
}

void FunctionStudy::report(std::size_t trial, std::size_t rung, double score, bool ended, const std::string& error) {
  const std::lock_guard lock(mutex_);
  check_open();
  const auto steps = kept_->study().to_do();
  const auto step =
      std::ranges::find_if(steps, [&](const tune::Step& one) { return one.trial == trial && one.rung == rung; });
  if (step == steps.end()) {
    throw_input_error("trial {} waits for no score of its step {}: it has one, or the step is of another study", trial,
                      rung);
  }
  const Json facts = error.empty() ? Json::object() : Json{{"error", error}};
  kept_->report(*step, {.loss = is_maximized_ ? -score : score, .ended = ended, .facts = facts});
}

std::string FunctionStudy::trials() const {
  const std::lock_guard lock(mutex_);
  return to_text(tune::trials_json(kept_->study(), is_maximized_));
}

std::optional<std::size_t> FunctionStudy::best() const {
  const std::lock_guard lock(mutex_);
  return kept_->study().best();
}

std::string FunctionStudy::fault() const {
  const std::lock_guard lock(mutex_);
  return kept_->fault();
}

void FunctionStudy::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  kept_->close();
}

void FunctionStudy::check_open() const {
  if (is_closed_) throw InputError("the study is closed; make another one to continue its journal");
}

}  // namespace podere::python
